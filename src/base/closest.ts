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
