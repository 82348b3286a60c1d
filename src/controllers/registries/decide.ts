import type { AppError } from '#base/errors.ts';
import { type EventText, eventText } from '#contract/events.ts';
import type { KubeObject } from '#contract/object.ts';
import { pathCaveats } from '#node/desired/registries/caveats.ts';
import { isImageConfig, type ImageRules, readImageRules } from '#node/desired/registries/image-rules.ts';
import { type MergedMirrorSet, mergeEntries } from '#node/desired/registries/merge.ts';
import { readMirrorEntries } from '#node/desired/registries/mirror-sets.ts';
import { blockedMirrors, registriesOf, unreachable } from '#node/desired/registries/registries.ts';

export interface Report {
  object: KubeObject;
  /** Empty when there is nothing to report. */
  events: EventText[];
}

/** Many events about one object would only hide each other. */
const maxEvents = 10;

/** What administrators must know about each object: where Windows nodes do something else than it says. */
export function decide(objects: readonly KubeObject[]): Report[] {
  const rules = readImageRules(objects);
  const used = registriesOf(mergeEntries(readMirrorEntries(objects).entries), rules);
  return objects.map(object => ({ object, events: limited(eventsOf(object, rules, used)) }));
}

function eventsOf(object: KubeObject, rules: ImageRules, used: readonly MergedMirrorSet[]): EventText[] {
  if (object.kind === 'ImageContentSourcePolicy') return [eventText.mirrorNotUsed(object.meta.name)];
  if (isImageConfig(object)) return imageEvents(rules, used);
  const { entries, warnings } = readMirrorEntries([object]);
  const ignored = [...warnings, ...entries.flatMap(entry => blockedMirrors(entry, rules))];
  const sources = new Set(entries.map(({ source }) => source.host));
  const left = used.filter(({ source }) => sources.has(source)).flatMap(set => unreachable(set, rules));
  return [
    ...ignored.map(eventText.mirrorIgnored),
    ...pathCaveats([object]).map(eventText.mirrorPathDiffers),
    ...left.map(eventText.noMirrorLeft),
  ];
}

/** A blocked registry without a mirror is reported on the object that blocks it. */
function imageEvents(rules: ImageRules, used: readonly MergedMirrorSet[]): EventText[] {
  const blocked = used.filter(({ source }) => rules.isBlocked(source));
  return [
    ...rules.problems.map(imageEvent),
    ...blocked.flatMap(set => unreachable(set, rules)).map(eventText.noMirrorLeft),
  ];
}

function imageEvent(problem: AppError): EventText {
  return problem.code === 'REGISTRY_NOT_BLOCKED'
    ? eventText.registryNotBlocked(problem)
    : eventText.registrySourceIgnored(problem);
}

function limited(events: EventText[]): EventText[] {
  if (events.length <= maxEvents) return events;
  return [...events.slice(0, maxEvents - 1), eventText.moreMirrorProblems(events.length - maxEvents + 1)];
}
