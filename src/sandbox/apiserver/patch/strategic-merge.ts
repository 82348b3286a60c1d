import { sameData } from '#base/compare.ts';
import { isRecord } from '#base/fields.ts';
import { badRequest, internal, StatusError } from '../status.ts';
import { followsOrder, inOrder, type SameItem } from './element-order.ts';
import { type MergeType, memberType } from './merge-type.ts';

const directive = '$patch';
const retainKeys = '$retainKeys';
const elementOrder = '$setElementOrder/';
const deleteFromList = '$deleteFromPrimitiveList/';

/** A JSON object. */
export type Json = Record<string, unknown>;

/**
 * Strategic merge patch: a merge patch with merge keys for lists, and directives. The type
 * has the merge keys; other members are merged as by a merge patch.
 */
export function strategicMerge(type: MergeType, target: Json, body: unknown): Json {
  if (body === null) return target;
  if (!isRecord(body)) throw badRequest('a strategic merge patch must be an object');
  return mergeObject(type, target, body);
}

function mergeObject(type: MergeType, target: Json, patch: Json): Json {
  if (Object.hasOwn(patch, directive)) return followDirective(type, patch);
  const members = new Map(Object.entries(applyRetainKeys(target, patch)));
  for (const [name, change] of changesOf(patch)) {
    const value = applyChange(memberType(type, name), members.get(name), change);
    if (value === undefined) members.delete(name);
    else members.set(name, value);
  }
  return Object.fromEntries(members);
}

function followDirective(type: MergeType, patch: Json): Json {
  if (patch[directive] === 'delete') return {};
  if (patch[directive] !== 'replace') throw unknownDirective(patch);
  return mergeObject(type, {}, without(patch, directive));
}

/** What a patch does to one member. */
interface Change {
  value?: unknown;
  order?: unknown;
  deletions?: unknown;
}

function changesOf(patch: Json): Map<string, Change> {
  const changes = new Map<string, Change>();
  const add = (name: string, change: Change): unknown => changes.set(name, { ...changes.get(name), ...change });
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(elementOrder)) add(key.slice(elementOrder.length), { order: value });
    else if (key.startsWith(deleteFromList)) add(key.slice(deleteFromList.length), { deletions: value });
    else if (key !== retainKeys) add(key, { value });
  }
  return changes;
}

function applyChange(type: MergeType, live: unknown, change: Change): unknown {
  const { value, order, deletions } = change;
  if (value === null) return undefined;
  let result = value === undefined ? live : mergeValue(type, live, value);
  if (order !== undefined) result = orderList(type, live, result, change);
  if (deletions === undefined || !Array.isArray(result)) return result;
  if (!Array.isArray(deletions)) throw badRequest('invalid patch format of primitive list');
  return result.filter(item => !deletions.some(deleted => sameData(deleted, item)));
}

function mergeValue(type: MergeType, live: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return mergeList(type, Array.isArray(live) ? live : [], value);
  if (!isRecord(value)) return value;
  if (live === undefined && value[directive] === 'delete') return undefined;
  const target = isRecord(live) && type.is !== 'replaced' ? live : {};
  return mergeObject(type, target, value);
}

function mergeList(type: MergeType, live: readonly unknown[], patch: readonly unknown[]): unknown[] {
  if ([...live, ...patch].some(Array.isArray)) throw listOfLists();
  if (type.is !== 'list') return patch.filter(item => !isSpecial(item));
  const key = type.mergeBy;
  if (key === '') return inOrder(unique([...live, ...patch]), { wanted: patch, live, same: sameData });
  const items = patch.map(item => itemOf(item, patch));
  const plain = items.filter(item => !isSpecial(item));
  if (items.some(item => item[directive] === 'replace')) return plain.map(item => mergeObject(type.item, {}, item));
  const kept = live.filter(item => !items.some(other => isSpecial(other) && same(item, other, key)));
  const result = [...kept];
  for (const item of plain) {
    keyOf(item, key);
    const index = result.findIndex(other => same(other, item, key));
    const target = result[index];
    if (index < 0) result.push(mergeObject(type.item, {}, item));
    else result[index] = mergeObject(type.item, isRecord(target) ? target : {}, item);
  }
  return inOrder(result, { wanted: plain, live: kept, same: (one, other) => same(one, other, key) });
}

/** An item of a list with a merge key. */
function itemOf(item: unknown, patch: readonly unknown[]): Json {
  if (!isRecord(item)) throw internal(`list element types are not identical: ${JSON.stringify(patch)}`);
  return item;
}

function isSpecial(item: unknown): boolean {
  if (!isRecord(item) || !Object.hasOwn(item, directive)) return false;
  if (item[directive] !== 'delete' && item[directive] !== 'replace') throw unknownDirective(item);
  return true;
}

function orderList(type: MergeType, live: unknown, result: unknown, { value, order }: Change): unknown {
  if (!Array.isArray(order)) throw internal('the order of a list must be a list');
  if (!Array.isArray(result)) return result;
  const key = type.is === 'list' ? type.mergeBy : '';
  const sameItem: SameItem = key === '' ? sameData : (one, other) => same(one, other, key);
  const given = Array.isArray(value) ? value.filter(item => !isSpecial(item)) : [];
  if (!followsOrder(given, order, sameItem)) {
    const [list, wanted] = [JSON.stringify(given), JSON.stringify(order)];
    throw internal(`The order in patch list:\n${list}\n doesn't match $setElementOrder list:\n${wanted}\n`);
  }
  return inOrder(result, { wanted: order, live: Array.isArray(live) ? live : [], same: sameItem });
}

/** Keeps only the members in $retainKeys, which must include all that the patch sets. */
function applyRetainKeys(target: Json, patch: Json): Json {
  if (!Object.hasOwn(patch, retainKeys)) return target;
  const keys = patch[retainKeys];
  const sets = (name: string): boolean => patch[name] !== null && !name.startsWith('$');
  if (!Array.isArray(keys) || Object.keys(patch).some(name => sets(name) && !keys.includes(name))) {
    throw badRequest('invalid patch format of retainKeys');
  }
  return Object.fromEntries(Object.entries(target).filter(([name]) => keys.includes(name)));
}

function same(one: unknown, other: unknown, key: string): boolean {
  return sameData(keyOf(one, key), keyOf(other, key));
}

function keyOf(item: unknown, key: string): unknown {
  if (isRecord(item) && Object.hasOwn(item, key)) return item[key];
  throw internal(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
}

function unique(items: readonly unknown[]): unknown[] {
  return items.filter((item, index) => items.findIndex(other => sameData(other, item)) === index);
}

function without(object: Json, name: string): Json {
  return Object.fromEntries(Object.entries(object).filter(([member]) => member !== name));
}

function unknownDirective(patch: Json): StatusError {
  const asked = patch[directive];
  const name = typeof asked === 'string' ? asked : JSON.stringify(asked);
  return internal(`unknown patch type: ${name} in map: ${JSON.stringify(patch)}`);
}

function listOfLists(): StatusError {
  const message = 'the server rejected our request due to an error in our request';
  return new StatusError({ code: 422, reason: 'Invalid', message, details: {} });
}
