import { AppError, shown } from '#base/errors.ts';
import type { NodeVariable, PreScript, Service } from '#contract/services/manifest.ts';
import { evaluateJsonPath } from '#kube/jsonpath/evaluate.ts';
import { parseJsonPath } from '#kube/jsonpath/parse.ts';

export type Values = Readonly<Record<string, string>>;

/** The value of each Node variable: its template must give exactly one string; a missing field is an error. */
export function resolveNodeVariables(node: unknown, variables: readonly NodeVariable[]): Record<string, string> {
  if (node === undefined) {
    throw new AppError('NODE_NOT_FOUND', 'the Node that provides variables does not exist', {
      remedy:
        'Wait until the kubelet has registered the Node; check pending certificate requests with `kubectl get csr`.',
    });
  }
  return Object.fromEntries(variables.map(({ name, jsonPath }) => [name, nodeValue(node, name, jsonPath)]));
}

function nodeValue(node: unknown, name: string, template: string): string {
  const segments = evaluateJsonPath(parseJsonPath(template), node);
  const [values = []] = segments;
  const [value] = values;
  if (segments.length === 1 && values.length === 1 && typeof value === 'string') return value;
  const what = segments.length === 1 ? `gives ${shown(values)}` : `has ${segments.length} parts`;
  throw new AppError('JSONPATH_NO_VALUE', `variable ${name}: JSONPath ${shown(template)} ${what}, not one string`, {
    remedy: 'Use a literal text or one path to a single string of the Node.',
  });
}

export function expandCommand(service: Service, values: Values): string {
  const known = [
    ...service.nodeVariables.map(variable => variable.name),
    ...service.hostVariables.map(variable => variable.name),
    ...service.preScripts.flatMap(script => script.variable ?? []),
  ];
  return substitute(service.command, known, values, `service ${service.name}`);
}

/** The PowerShell text of a pre-script with its arguments from the Node; without arguments no Node is needed. */
export function scriptText(script: PreScript, node: unknown, label: string): string {
  if (script.args.length === 0) return script.path;
  const values = resolveNodeVariables(node, script.args);
  for (const { name, jsonPath } of script.args) {
    // Values of the Node are not written by the operator and must not become PowerShell code.
    if (values[name] !== jsonPath && /[^\w.:/\\,=+ -]/.test(values[name] ?? '')) {
      throw unresolved(label, name, `is ${shown(values[name])}, which is not safe in a script`);
    }
  }
  const names = script.args.map(argument => argument.name);
  return substitute(script.path, names, values, label);
}

/** Replaces whole words in one pass, longer names first, so that names inside names or values are not replaced. */
function substitute(text: string, names: readonly string[], values: Values, label: string): string {
  const known = names.filter(name => name !== '').toSorted((one, other) => other.length - one.length);
  if (known.length === 0) return text;
  const pattern = new RegExp(known.map(wholeWord).join('|'), 'g');
  return text.replaceAll(pattern, name => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === '') throw unresolved(label, name, 'has no value');
    if (/[\r\n\0]/.test(value)) throw unresolved(label, name, `has the value ${shown(value)}, which is not one line`);
    return value;
  });
}

function wholeWord(name: string): string {
  return `${/^\w/.test(name) ? '(?<!\\w)' : ''}${RegExp.escape(name)}${/\w$/.test(name) ? '(?!\\w)' : ''}`;
}

function unresolved(label: string, name: string, what: string): AppError {
  return new AppError('COMMAND_VARIABLE_UNRESOLVED', `${label}: variable ${name} ${what}`, {
    remedy: `Check the source of ${name} in the services ConfigMap, and that the Node or host has a value for it.`,
  });
}
