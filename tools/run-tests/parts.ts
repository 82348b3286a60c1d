/** One row of the table that `npm test` prints. */
export interface Part {
  name: string;
  /** What it tests, for the person who waits. */
  about: string;
  /** Run through npm. */
  script: string;
  /** Parts that must be over before this one starts; all other parts run at the same time. */
  after: readonly string[];
  /** Key in the answer of `test:programs`: without these programs the part cannot run. */
  needs?: 'cluster' | 'windows';
  /** Depends on real time: in CI, a file that fails is run once more when all other parts are over. */
  isRepeated?: boolean;
  /** Leaves the processors to the others. */
  isLowPriority?: boolean;
}

/**
 * Unit and scenario tests run on clocks that are faster than real time, so only the low-priority build of kube-apiserver runs
 * beside them. Cluster and Windows tests run on real time: together they would run into their limits on two processors.
 */
export const parts: readonly Part[] = [
  {
    name: 'programs',
    about: 'finds or builds kube-apiserver, etcd and Wine',
    script: 'test:programs',
    after: [],
    isLowPriority: true,
  },
  { name: 'check', about: 'types, lint, layers, format, unused code', script: 'check', after: [] },
  {
    name: 'unit',
    about: 'unit and property tests, tests of the tools',
    script: 'test:unit',
    after: ['check'],
    isRepeated: true,
  },
  { name: 'conformance', about: 'rows of the specification', script: 'test:conformance', after: ['unit'] },
  {
    name: 'scenario',
    about: 'operator and sandbox as users run them',
    script: 'test:scenario',
    after: ['conformance'],
    isRepeated: true,
  },
  {
    name: 'cluster',
    about: 'a real kube-apiserver',
    script: 'test:cluster',
    after: ['programs', 'scenario'],
    needs: 'cluster',
    isRepeated: true,
  },
  {
    name: 'windows',
    about: 'the agent as .exe under Wine',
    script: 'test:windows',
    after: ['programs', 'cluster'],
    needs: 'windows',
    isRepeated: true,
  },
];
