import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { type BenchOptions, JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { connect } from './connect.ts';

const changed = new AppError('HOST_KEY_CHANGED', '10.0.0.5: host key changed from a to b', { remedy: 'Find out why.' });

function benchWith(error: Error, spec: BenchOptions['spec'] = {}): JourneyBench {
  const bench = new JourneyBench({ spec });
  bench.host.faults.connect = () => {
    throw error;
  };
  return bench;
}

const annotated = { [nodeAnnotation.sshHostKey]: 'AAAA' };
const places: [name: string, BenchOptions['spec'], annotations: Record<string, string> | undefined, place: string][] = [
  ['in the ConfigMap before there is a Node', {}, undefined, 'entry 10.0.0.5 of ConfigMap windows-ssh-host-keys'],
  ['there, too, while the Node has none', {}, {}, 'entry 10.0.0.5 of ConfigMap windows-ssh-host-keys'],
  ['on the Node', {}, annotated, `annotation ${nodeAnnotation.sshHostKey} of Node win-5`],
  ['in the instance', { hostKey: 'ssh-ed25519 AAAA' }, annotated, 'spec.hostKey of WindowsInstance win-5'],
];
for (const [name, spec, annotations, place] of places) {
  test(`says where the key is stored that a host should have shown: ${name}`, async () => {
    const bench = benchWith(changed, spec);
    if (annotations) bench.putNode({ metadata: { name: 'win-5', labels: { [nodeLabel.os]: 'windows' }, annotations } });
    await expect(bench.take(connect)).rejects.toMatchObject({
      code: 'HOST_KEY_CHANGED',
      message: changed.message,
      remedy: `If the host was reinstalled, remove its stored key (${place}); if not, find out who answers at its address.`,
      cause: changed,
    });
  });
}

test('leaves other failures as they are', async () => {
  const refused = new AppError('HOST_REFUSED_KEY', '10.0.0.5: no', { remedy: 'Give it the key.' });
  await expect(benchWith(refused).take(connect)).rejects.toBe(refused);
});
