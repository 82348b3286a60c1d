import { anyCharacter, type CharacterSet, type Part, parsePattern } from './parse.ts';

/** Up to this many repetitions are cheap, whatever stands beside them. */
const harmless = 255;

/**
 * Why a pattern may take time that grows with the square of the text, or faster; undefined when it cannot. That is so where two
 * repetitions can share the same characters in many ways: beside each other, one in the other, or one at any place of the text.
 */
export function patternRisk(source: string, flags: string): string | undefined {
  const alternatives = parsePattern(source, flags);
  const problems = [
    ...expand({ is: 'group', alternatives, lookaround: false }).map(path => pathRisk(fromAnywhere(path, flags), false)),
    ...repetitionsIn(alternatives.flat()).map(repetitionRisk),
  ];
  return problems.find(problem => problem !== undefined);
}

/** A step on one of the ways through a pattern. */
type Step = { is: 'loop'; set: CharacterSet; min: number } | { is: 'part'; part: Part };
type Path = readonly Step[];
type Repetition = Extract<Part, { is: 'repetition' }>;

/** A pattern without an anchor is tried at each place of the text. */
function fromAnywhere(path: Path, flags: string): Path {
  const [first] = path;
  const isAnchored = flags.includes('y') || (first?.is === 'part' && isStart(first.part));
  return isAnchored ? path : [{ is: 'loop', set: anyCharacter, min: 0 }, ...path];
}

function isStart(part: Part): boolean {
  return part.is === 'assertion' && part.start;
}

/** All ways through a part, with each repetition without bound as one step. */
function expand(part: Part): Path[] {
  if (!repetitionsIn([part]).some(isUnbounded)) return [[{ is: 'part', part }]];
  if (part.is === 'group') return part.alternatives.flatMap(each => expandAll(each, part.lookaround));
  if (part.is !== 'repetition') throw new Error('only groups and repetitions hold repetitions');
  if (isUnbounded(part)) return [[{ is: 'loop', set: charactersOf(part.body), min: part.min }]];
  const times = Math.min(part.max, 2);
  return [...(part.min === 0 ? [[]] : []), ...expandAll(Array<Part>(times).fill(part.body), false)];
}

/** What follows a lookaround continues where the lookaround began, and can fail. */
function expandAll(parts: readonly Part[], endsInCheck: boolean): Path[] {
  const check: Step = { is: 'part', part: { is: 'assertion', start: false } };
  let paths: Path[] = [[]];
  for (const part of parts) {
    paths = expand(part).flatMap(next => paths.map(path => [...path, ...next]));
    if (paths.length > 5000) throw new Error('too many ways through the pattern');
  }
  return endsInCheck ? paths.map(path => [...path, check]) : paths;
}

function pathRisk(path: Path, failsLater: boolean): string | undefined {
  for (const [index, one] of path.entries()) {
    for (const [distance, other] of path.slice(index + 1).entries()) {
      if (one.is !== 'loop' || other.is !== 'loop') continue;
      const end = index + 1 + distance;
      const shared = intersection(one.set, other.set);
      const isOneText = shared.size > 0 && path.slice(index + 1, end).every(step => fits(step, shared));
      if (!isOneText || !(failsLater || path.slice(end + 1).some(canFail))) continue;
      return `two repetitions share ${JSON.stringify(String.fromCharCode(...[...shared].slice(0, 3)))}`;
    }
  }
  return undefined;
}

/** What is repeated is followed by itself. */
function repetitionRisk({ body, max }: Repetition): string | undefined {
  if (max <= harmless) return undefined;
  if (body.is === 'group' && body.alternatives.length > 1) {
    const firsts = body.alternatives.map(firstOf);
    const isAmbiguous = firsts.some((one, index) =>
      firsts.slice(index + 1).some(other => intersection(one, other).size > 0),
    );
    if (isAmbiguous) return 'alternatives of a repetition begin with the same characters';
  }
  return expandAll([body, body], false)
    .map(path => pathRisk(path, true))
    .find(problem => problem !== undefined);
}

function isUnbounded({ max }: Repetition): boolean {
  return max > harmless;
}

function repetitionsIn(parts: readonly Part[]): Repetition[] {
  return parts.flatMap(part => {
    if (part.is === 'group') return repetitionsIn(part.alternatives.flat());
    return part.is === 'repetition' ? [part, ...repetitionsIn([part.body])] : [];
  });
}

function charactersOf(part: Part): CharacterSet {
  if (part.is === 'character') return part.set;
  if (part.is === 'assertion') return new Set();
  const inside = part.is === 'group' ? part.alternatives.flat() : [part.body];
  return new Set(inside.flatMap(each => [...charactersOf(each)]));
}

function firstOf(parts: readonly Part[]): CharacterSet {
  const found = new Set<number>();
  for (const part of parts) {
    const inside = part.is === 'group' ? part.alternatives.map(firstOf) : [charactersOf(part)];
    for (const set of inside) for (const code of set) found.add(code);
    if (!canBeEmpty(part)) break;
  }
  return found;
}

/** Whether something of it can consist of these characters alone. */
function fits(step: Step, set: CharacterSet): boolean {
  if (step.is === 'loop') return step.min === 0 || intersection(step.set, set).size > 0;
  return partFits(step.part, set);
}

function partFits(part: Part, set: CharacterSet): boolean {
  if (part.is === 'character') return intersection(part.set, set).size > 0;
  if (part.is === 'assertion') return !part.start;
  if (part.is === 'repetition') return part.min === 0 || partFits(part.body, set);
  return part.lookaround || part.alternatives.some(each => each.every(one => partFits(one, set)));
}

function canFail(step: Step): boolean {
  if (step.is === 'loop') return step.min > 0;
  return step.part.is === 'assertion' || !canBeEmpty(step.part);
}

function canBeEmpty(part: Part): boolean {
  if (part.is === 'character') return false;
  if (part.is === 'assertion') return true;
  if (part.is === 'repetition') return part.min === 0 || canBeEmpty(part.body);
  return !part.lookaround && part.alternatives.some(each => each.every(canBeEmpty));
}

function intersection(one: CharacterSet, other: CharacterSet): CharacterSet {
  return new Set([...one].filter(code => other.has(code)));
}
