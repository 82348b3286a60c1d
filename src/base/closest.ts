/** Longer words are never misspelled commands. */
const maxLength = 40;

/** The known word that was most likely meant; undefined when none is similar. */
export function closestWord(word: string, known: readonly string[]): string | undefined {
  if (word === '' || word.length > maxLength) return undefined;
  const lower = word.toLowerCase();
  const allowed = Math.max(1, Math.floor(word.length / 3));
  const ranked = known
    .map(each => ({ each, distance: distanceOf(lower, each.toLowerCase()) }))
    .filter(({ each, distance }) => distance <= allowed && distance < each.length)
    .sort((one, other) => one.distance - other.distance);
  return ranked[0]?.each ?? known.find(each => each.toLowerCase().startsWith(lower));
}

/** Longer ends of names are not compared. */
const maxCompared = 64;

/** At most five names, those close to the word first if not all fit, and how many others there are: `a, b and 3 others`. */
export function namesNear(word: string, known: readonly string[]): string {
  if (known.length <= maxNames) return known.join(', ');
  const wanted = word.slice(0, maxCompared).toLowerCase();
  const ranked = known
    .map(each => ({ each, distance: distanceOf(wanted, each.slice(0, maxCompared).toLowerCase()) }))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, maxNames);
  const left = known.length - maxNames;
  return `${ranked.map(({ each }) => each).join(', ')} and ${left} ${left === 1 ? 'other' : 'others'}`;
}

const maxNames = 5;

/** Letters that are missing, added, wrong or swapped with the next one. */
function distanceOf(one: string, other: string): number {
  let [beforeLast, last]: number[][] = [[], Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let column = 1; column <= other.length; column++) {
      const isEqual = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      next.push(
        Math.min(
          at(last, column) + 1,
          at(next, column - 1) + 1,
          at(last, column - 1) + (isEqual ? 0 : 1),
          isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [beforeLast, last] = [last, next];
  }
  return at(last, other.length);
}

function at(list: readonly number[] | undefined, index: number): number {
  return list?.[index] ?? Number.POSITIVE_INFINITY;
}
