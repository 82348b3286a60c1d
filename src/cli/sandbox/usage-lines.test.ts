import { expect, test } from 'vitest';
import { hostIn } from '../../../test/kit/status-views.ts';
import { usageLines } from './usage-lines.ts';

const facts = { kubeconfig: '/tmp/x/kubeconfig', logFile: '/tmp/x/operator.log' };
const ofMachine = hostIn('ready', 'm1', { source: { kind: 'Machine', name: 'm1' } });

test('says how to use kubectl and wmco with it, and where the log is', () => {
  const lines = usageLines({ ...facts, hosts: [hostIn('failed'), hostIn('ready')] });
  expect(lines).toContain('  export KUBECONFIG=/tmp/x/kubeconfig');
  expect(lines).toContain('  wmco status win-1');
  expect(lines.join('\n')).toContain('kubectl delete node win-1');
  expect(lines).toContain('Log of the operator: /tmp/x/operator.log');
});

test('speaks of MachineSets only where there are Machines', () => {
  expect(usageLines({ ...facts, hosts: [hostIn('ready')] }).join()).not.toContain('machineset');
  expect(usageLines({ ...facts, hosts: [ofMachine] }).join()).toContain('kubectl patch machineset winworker');
});

test('is short, so that the table above it stays to be seen', () => {
  expect(usageLines({ ...facts, hosts: [ofMachine] }).length).toBeLessThanOrEqual(9);
});

test('a path with blanks can be copied as it stands', () => {
  const kubeconfig = "/tmp/it's here/kubeconfig";
  expect(usageLines({ ...facts, kubeconfig, hosts: [] })[1]).toBe(
    `  export KUBECONFIG='/tmp/it'\\''s here/kubeconfig'`,
  );
});

test('without a Node there is still an example', () => {
  expect(usageLines({ ...facts, hosts: [] }).join('\n')).toContain('wmco status win-1');
});
