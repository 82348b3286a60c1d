/** One thing that the validators of operator-sdk or opm refuse or warn about. */
export interface Rule<T> {
  name: string;
  /** What is wrong; empty when the rule holds. */
  check: (subject: T) => string[];
}

export function problemsOf<T>(rules: readonly Rule<T>[], subject: T): string[] {
  return rules.flatMap(({ name, check }) => check(subject).map(problem => `${name}: ${problem}`));
}

export const when = (isWrong: boolean, problem: string): string[] => (isWrong ? [problem] : []);

export function duplicatesIn(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}

export const isDnsName = (name: string) =>
  name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name);
export const isSemver = (text: string) =>
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.test(text);
