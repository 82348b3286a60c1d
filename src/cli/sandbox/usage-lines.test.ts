import { expect, test } from 'vitest';
import { hostIn } from '../../../test/kit/status-views.ts';
import { usageLines } from './usage-lines.ts';

const facts = { kubeconfig: '/tmp/x/kubeconfig', logFile: '/tmp/x/operator.log' };
const ofMachine = hostIn('ready', 'm1', { source: { kind: 'Machine', name: 'm1' } });

test('lists commands for kubectl and wmco, and the path of the log', () => {
  const lines = usageLines({ ...facts, hosts: [hostIn('failed'), hostIn('ready')] });
  expect(lines).toContain('  export KUBECONFIG=/tmp/x/kubeconfig');
  expect(lines).toContain('  wmco status win-1');
  expect(lines.join('\n')).toContain('kubectl delete node win-1');
  expect(lines).toContain('Operator log: /tmp/x/operator.log');
});

test('mentions MachineSets only when there are Machines', () => {
  expect(usageLines({ ...facts, hosts: [hostIn('ready')] }).join()).not.toContain('machineset');
  expect(usageLines({ ...facts, hosts: [ofMachine] }).join()).toContain('kubectl patch machineset winworker');
});

test('is short, so that the table above stays visible', () => {
  expect(usageLines({ ...facts, hosts: [ofMachine] }).length).toBeLessThanOrEqual(9);
});

test('quotes a path with blanks', () => {
  const kubeconfig = "/tmp/it's here/kubeconfig";
  expect(usageLines({ ...facts, kubeconfig, hosts: [] })[1]).toBe(
    `  export KUBECONFIG='/tmp/it'\\''s here/kubeconfig'`,
  );
});

test('has an example without a Node', () => {
  expect(usageLines({ ...facts, hosts: [] }).join('\n')).toContain('wmco status win-1');
});
