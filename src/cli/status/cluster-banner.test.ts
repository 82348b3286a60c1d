import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { instanceOf, recordedTerminal, statuses, viewOf } from '../../../test/kit/status-views.ts';
import type { StatusOptions } from './options.ts';
import { showView } from './program.ts';

const problem = { code: 'NETWORK_CLASS_E', message: 'network 240.0.0.0/8 is class E', remedy: 'Choose another.' };
const view = viewOf({
  instances: [instanceOf('10.0.0.1', structuredClone(statuses.ready))],
  clusterProblems: [problem],
});

function shown(form: StatusOptions['form'], hosts: string[] = [], hasHeaders = true) {
  const terminal = recordedTerminal();
  showView(view, { hosts, form, hasHeaders }, terminal);
  return { lines: terminal.text().split('\n'), text: terminal.text() };
}

const banner = ['cluster: NETWORK_CLASS_E', '  network 240.0.0.0/8 is class E', '  -> Choose another.', ''];

const forms: [name: string, form: StatusOptions['form'], hosts: string[]][] = [
  ['the table', 'text', []],
  ['the wide table', 'wide', []],
  ['the page of a host', 'text', ['10.0.0.1']],
];
for (const [name, form, hosts] of forms) {
  test(`problems of the cluster are above ${name}`, () => {
    expect(shown(form, hosts).lines.slice(0, 4)).toEqual(banner);
  });
}

test('data has the problems of the cluster', () => {
  expect(JSON.parse(shown('json').text)).toMatchObject({ clusterProblems: [problem] });
  expect(parse(shown('yaml').text)).toMatchObject({ clusterProblems: [problem] });
});

test('rows without headings and names have no problems of the cluster', () => {
  expect(shown('text', [], false).text).not.toContain('NETWORK_CLASS_E');
  expect(shown('name').text).not.toContain('NETWORK_CLASS_E');
});

test('the exit code is about hosts only', () => {
  const noHosts = viewOf({ clusterProblems: [problem] });
  expect(showView(noHosts, { hosts: [], form: 'text', hasHeaders: true }, recordedTerminal())).toBe(0);
});
