import { byteOrder } from '#base/compare.ts';
import { isRecord } from '#base/fields.ts';
import { FieldSet } from './field-set.ts';

/** An entry of metadata.managedFields: who owns which fields, and by which way they came. */
export interface Manager {
  name: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource: string;
  time: string | undefined;
  fields: FieldSet;
}

/** Reads metadata.managedFields; undefined when one entry cannot be understood, which makes all of them worthless. */
export function parseManagers(managedFields: unknown): Manager[] | undefined {
  if (managedFields === undefined || managedFields === null) return [];
  if (!Array.isArray(managedFields)) return undefined;
  const managers: Manager[] = [];
  for (const entry of managedFields) {
    const manager = parseManager(entry);
    if (manager === undefined) return undefined;
    managers.push(manager);
  }
  return managers;
}

function parseManager(entry: unknown): Manager | undefined {
  if (!isRecord(entry) || entry['fieldsType'] !== 'FieldsV1') return undefined;
  const fields = FieldSet.parse(entry['fieldsV1'] ?? {});
  const { manager = '', operation, apiVersion = '', subresource = '', time } = entry;
  if (fields === undefined || typeof manager !== 'string' || typeof apiVersion !== 'string') return undefined;
  if ((operation !== 'Apply' && operation !== 'Update') || typeof subresource !== 'string') return undefined;
  return {
    name: manager,
    operation,
    apiVersion,
    subresource,
    time: typeof time === 'string' ? time : undefined,
    fields,
  };
}

/** Writes metadata.managedFields: appliers first, then by time and name. */
export function printManagers(managers: readonly Manager[]): Record<string, unknown>[] {
  return managers.toSorted(order).map(manager => ({
    manager: manager.name,
    operation: manager.operation,
    apiVersion: manager.apiVersion,
    ...(manager.time === undefined ? {} : { time: manager.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: manager.fields.print(),
    ...(manager.subresource === '' ? {} : { subresource: manager.subresource }),
  }));
}

function order(one: Manager, other: Manager): number {
  return (
    byteOrder(one.operation, other.operation) ||
    byteOrder(one.time ?? '', other.time ?? '') ||
    byteOrder(one.name, other.name) ||
    byteOrder(one.apiVersion, other.apiVersion) ||
    byteOrder(one.subresource, other.subresource)
  );
}

/** What makes two entries the same manager. An applier stays itself when it moves on to another version of the API. */
export function managerId(manager: Omit<Manager, 'time' | 'fields'>): string {
  const { name, operation, apiVersion, subresource } = manager;
  return JSON.stringify([operation, operation === 'Apply' ? '' : apiVersion, subresource, name]);
}

/** A manager as messages name it. */
export function printManager({ name, operation, apiVersion, subresource }: Manager): string {
  const where = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(name)}${where}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}

const maxUpdaters = 10;

/** Puts the oldest updaters of each version together until there are few enough; appliers are never put together. */
export function capUpdaters(managers: readonly Manager[]): Manager[] {
  const updaters = managers.filter(({ operation }) => operation === 'Update').toSorted(order);
  const kept: Manager[] = managers.filter(({ operation }) => operation === 'Apply');
  const ancient = new Map<string, Manager>();
  let count = updaters.length;
  for (const updater of updaters) {
    const bucket = ancient.get(updater.apiVersion);
    if (count <= maxUpdaters) kept.push(updater);
    else if (bucket === undefined) ancient.set(updater.apiVersion, updater);
    else {
      const { apiVersion, time } = updater;
      const fields = bucket.fields.union(updater.fields);
      ancient.set(apiVersion, {
        name: 'ancient-changes',
        operation: 'Update',
        apiVersion,
        subresource: '',
        time,
        fields,
      });
      count -= 1;
    }
  }
  return [...kept, ...ancient.values()];
}
