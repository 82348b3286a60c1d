import { expect, test } from 'vitest';
import { hostIn } from '../../../test/kit/status-views.ts';
import { experimentLines, hintLines, startLines } from './usage-lines.ts';

const facts = { command: '/opt/wmco', kubeconfig: '/tmp/x/kubeconfig', logFile: '/tmp/x/operator.log' };
const installed = { services: [], networks: [] };
const machine = (name: string, ...faults: string[]) => ({
  name,
  faults,
  sshSessions: 0,
  uploadedBytes: 0,
  reboots: 0,
  installed,
});
const hints = {
  ...facts,
  namespace: 'ns',
  endFaultAnnotation: 'sandbox/end-fault',
  machines: [machine('b', 'wrong-key')],
};

test('at the start it prints the kubeconfig, commands that work when pasted, and the log', () => {
  expect(startLines(facts)).toEqual([
    'In another terminal:',
    '  export KUBECONFIG=/tmp/x/kubeconfig',
    '  kubectl get nodes,windowsinstances -A',
    '  /opt/wmco status',
    'Operator log: /tmp/x/operator.log',
  ]);
});

test('the hint names the failing host and ends its fault', () => {
  expect(hintLines({ ...hints, hosts: [hostIn('ready', 'a'), hostIn('slow', 'c'), hostIn('failed', 'b')] })).toEqual([
    'export KUBECONFIG=/tmp/x/kubeconfig',
    '/opt/wmco status b',
    'kubectl annotate wi b -n ns \\',
    '  sandbox/end-fault=wrong-key',
  ]);
});

test('the hint names a slow host when none fails, and no host when all are fine', () => {
  expect(hintLines({ ...hints, hosts: [hostIn('ready', 'a'), hostIn('slow', 'c')] })[1]).toBe('/opt/wmco status c');
  expect(hintLines({ ...hints, hosts: [hostIn('ready', 'a')] })).toEqual([
    'export KUBECONFIG=/tmp/x/kubeconfig',
    '/opt/wmco status',
  ]);
});

test('experiments use a healthy Node and mention MachineSets only when there are Machines', () => {
  const ofMachine = hostIn('ready', 'm1', { source: { kind: 'Machine', name: 'm1' } });
  expect(experimentLines([hostIn('failed'), hostIn('ready')], 'wmco').join('\n')).toContain(
    'kubectl delete node win-1',
  );
  expect(experimentLines([hostIn('failed')], 'wmco').join('\n')).not.toContain('delete node');
  expect(experimentLines([hostIn('ready')], 'wmco').join()).not.toContain('machineset');
  expect(experimentLines([ofMachine], 'wmco').join()).toContain('kubectl patch machineset winworker');
});

test('quotes a path with blanks', () => {
  const kubeconfig = "/tmp/it's here/kubeconfig";
  expect(startLines({ ...facts, kubeconfig })[1]).toBe(`  export KUBECONFIG='/tmp/it'\\''s here/kubeconfig'`);
});
