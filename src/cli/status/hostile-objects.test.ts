/* oxlint-disable no-control-regex -- escapes are what is looked for */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { machineLabel } from '#contract/names.ts';
import { poisoned, poisons, unplain } from '../../../test/kit/hostile-text.ts';
import { instanceOf, nodeOf, recordedTerminal, statuses, viewOf } from '../../../test/kit/status-views.ts';
import type { TerminalSize } from '../terminal.ts';
import { displayOn, jsonDisplay } from './screen/displays.ts';
import { hostViews } from './view/cluster-hosts.ts';
import type { StatusOptions } from './options.ts';
import type { ClusterView } from './view/host-view.ts';
import { showView } from './program.ts';

/** A cluster with hosts in all states and hostile text in every field. */
const view: ClusterView = viewOf({
  instances: Object.entries(statuses).map(([name, status]) =>
    instanceOf(name, status && { ...structuredClone(status), hostKey: 'ssh-ed25519 AAAA' }, { hostname: 'win' }),
  ),
  nodes: [nodeOf('win-1', { unschedulable: true })],
  entries: { '10.0.0.7': 'username=core', bad_name: 'username=a b=c' },
  machines: [{ metadata: { name: 'm1', labels: { [machineLabel.osId]: 'Windows' } } }],
  hostKeys: { ready: 'ssh-ed25519 AAAA' },
  clusterProblems: [{ code: 'NETWORK_CLASS_E', message: 'class E', remedy: 'Choose another.' }],
  notes: ['Lease x cannot be read: no answer'],
});

const inColor: TerminalSize = { columns: 100, rows: 40 };
/** Those of a heading are painted with it. */
const withoutEndBlanks = (text: string) =>
  text
    .split('\n')
    .map(line => line.trimEnd())
    .join('\n');
const colorCodes = /\u001b\[(?:0|1|2|31|32|33|35|36)m/g;

/** What `wmco status` writes, with and without colors. */
function shownOf(
  objects: ClusterView,
  host: string | undefined,
  form: StatusOptions['form'],
): [plain: string, colored: string] {
  const [plain, colored] = [recordedTerminal(inColor, { NO_COLOR: '1' }), recordedTerminal(inColor)] as const;
  for (const terminal of [plain, colored]) {
    try {
      showView(objects, { hosts: host === undefined ? [] : [host], form, hasHeaders: true }, terminal);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }
  return [plain.text(), colored.text()];
}

const hosts: [what: string, host: (objects: ClusterView) => string | undefined, form: StatusOptions['form']][] = [
  ['all hosts', () => undefined, 'text'],
  ['one host', objects => objects.instances[5]?.metadata.name, 'text'],
  ['another host', objects => objects.instances[3]?.metadata.name, 'text'],
  ['data', () => undefined, 'json'],
  ['YAML', () => undefined, 'yaml'],
  ['a wide table', () => undefined, 'wide'],
  ['names', () => undefined, 'name'],
];
for (const [what, hostOf, form] of hosts) {
  test(`objects cannot send control characters to the terminal: ${what}`, () => {
    fc.assert(
      fc.property(poisons, plan => {
        const objects = poisoned(view, plan);
        const [plain, colored] = shownOf(objects, hostOf(objects), form);
        // A tab is harmless, and YAML leaves it in quoted texts.
        expect(form === 'yaml' ? plain.replaceAll('\t', ' ') : plain).not.toMatch(unplain);
        expect(withoutEndBlanks(colored.replaceAll(colorCodes, ''))).toBe(withoutEndBlanks(plain));
      }),
      { numRuns: 300 },
    );
  });
}

test('objects cannot send control characters to a terminal that follows them', () => {
  fc.assert(
    fc.property(fc.array(poisons, { minLength: 2, maxLength: 3 }), plans => {
      const [lines, json, screen] = [
        recordedTerminal(),
        recordedTerminal(),
        recordedTerminal(inColor, { NO_COLOR: '1' }),
      ] as const;
      for (const terminal of [lines, json, screen]) {
        const display = terminal === json ? jsonDisplay(terminal) : displayOn(terminal, () => '12:00:00');
        for (const plan of plans) display.show(hostViews(poisoned(view, plan)));
        display.close([]);
      }
      expect(lines.text() + json.text()).not.toMatch(unplain);
      expect(screen.text().replaceAll(/\r?\u001b\[(?:\?25[lh]|2K|J|\d+A)|\r/g, '')).not.toMatch(unplain);
    }),
    { numRuns: 200 },
  );
});

test('a text that looks like another host stays on its line', () => {
  const [objects] = [poisoned(view, [['append', '\n10.0.0.9  Ready']])];
  const [plain] = shownOf(objects, undefined, 'text');
  expect(plain).not.toMatch(/^10\.0\.0\.9/m);
});
