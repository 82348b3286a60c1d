/** What `npm test` runs, in this order. */
export interface Part {
  name: string;
  /** What it is about, for whoever waits. */
  about: string;
  /** Run through npm. */
  script: string;
  /** Its files work on real processes and real time: in CI one that fails is run once more alone, and listed when it passes then. */
  isRepeated: boolean;
}

export const parts: readonly Part[] = [
  { name: 'check', about: 'types, lint, layers, format, unused code', script: 'check', isRepeated: false },
  { name: 'unit', about: 'unit and property tests, tests of the tools', script: 'test:unit', isRepeated: false },
  { name: 'conformance', about: 'rows of the specification', script: 'test:conformance', isRepeated: false },
  { name: 'cluster', about: 'a real kube-apiserver', script: 'test:cluster', isRepeated: true },
  { name: 'scenario', about: 'operator and sandbox as users run them', script: 'test:scenario', isRepeated: true },
  { name: 'windows', about: 'the agent as .exe under Wine', script: 'test:windows', isRepeated: true },
];
