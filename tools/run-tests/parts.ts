/** One row of the table that `npm test` prints. */
export interface Part {
  name: string;
  /** What it tests, for the person who waits. */
  about: string;
  /** Run through npm. */
  script: string;
  /** Parts of one lane run one after the other; the lanes run at the same time. */
  lane: 'computing' | 'waiting';
  /** Uses real processes and real time: in CI, a file that fails is run once more when all other parts are over. */
  isRepeated: boolean;
  /** Key in the answer of `test:programs`: without these programs the part cannot run. */
  needs?: 'cluster' | 'windows';
}

/**
 * One lane keeps the cores busy, the other mostly waits for services, leases and reboots. `programs` comes first in the lane that
 * waits, so that the first build of kube-apiserver runs beside the unit tests.
 */
export const parts: readonly Part[] = [
  {
    name: 'programs',
    about: 'finds or builds kube-apiserver, etcd and Wine',
    script: 'test:programs',
    lane: 'waiting',
    isRepeated: false,
  },
  {
    name: 'check',
    about: 'types, lint, layers, format, unused code',
    script: 'check',
    lane: 'computing',
    isRepeated: false,
  },
  {
    name: 'unit',
    about: 'unit and property tests, tests of the tools',
    script: 'test:unit',
    lane: 'computing',
    isRepeated: false,
  },
  {
    name: 'conformance',
    about: 'rows of the specification',
    script: 'test:conformance',
    lane: 'computing',
    isRepeated: false,
  },
  {
    name: 'windows',
    about: 'the agent as .exe under Wine',
    script: 'test:windows',
    lane: 'waiting',
    isRepeated: true,
    needs: 'windows',
  },
  {
    name: 'scenario',
    about: 'operator and sandbox as users run them',
    script: 'test:scenario',
    lane: 'computing',
    isRepeated: true,
  },
  {
    name: 'cluster',
    about: 'a real kube-apiserver',
    script: 'test:cluster',
    lane: 'computing',
    isRepeated: true,
    needs: 'cluster',
  },
];
