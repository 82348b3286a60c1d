import { evaluateJsonPath } from '../../src/kube/jsonpath/evaluate.ts';
import { parseJsonPath } from '../../src/kube/jsonpath/parse.ts';

/** What `kubectl get -o jsonpath=<template>` prints for the data: a missing field prints an empty text. */
export function jsonPathText(template: string, data: unknown): string {
  return evaluateJsonPath(parseJsonPath(template), data, 'skip')
    .map(values => values.map(printValue).join(' '))
    .join('');
}

function printValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
