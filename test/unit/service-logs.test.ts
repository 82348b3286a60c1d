import { expect, test } from 'vitest';
import { type LogFiles, logPathOf, withLastLines } from '../../src/agent/services/service-log.ts';
import { AppError } from '../../src/base/errors.ts';
import { serviceName } from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import { servicesManifest } from '../../src/node/desired/services.ts';
import { benchSettings, defaultFacts } from '../kit/fixed-facts.ts';

/** The agent finds the log of every service that the operator has it run. */

const rotations = [
  { fileSize: '', fileAge: '', flushInterval: '' },
  { fileSize: '100M', fileAge: '24h', flushInterval: '5s' },
];
const logs: Record<string, string | undefined> = {
  [serviceName.containerd]: file.containerdLog,
  [serviceName.kubelet]: file.kubeletLog,
  [serviceName.exporter]: file.exporterLog,
  [serviceName.hybridOverlay]: file.hybridOverlayLog,
  [serviceName.csiProxy]: file.csiProxyLog,
  [serviceName.kubeProxy]: file.kubeProxyLog,
  // It writes none: Windows has its events.
  [serviceName.cloudNodeManager]: undefined,
};
const files: LogFiles = {
  stat: async () => ({ bytes: 10, modifiedMs: 0 }),
  async *readChunks(path) {
    yield Buffer.from(`fatal in ${path}\n`);
  },
};

for (const debug of [false, true]) {
  for (const logRotation of rotations) {
    const facts = { ...defaultFacts, platform: 'Azure' as const };
    const { services } = servicesManifest(facts, { ...benchSettings, debug, logRotation });
    test.each(services)(
      `the failure of $name has the end of its log (${logRotation.fileSize}, ${debug})`,
      async service => {
        const path = logs[service.name];
        expect(logPathOf(service.command)).toBe(path);
        const failure = new AppError('SERVICE_NOT_SETTLED', 'it stopped', { remedy: 'Look.' });
        const message = path === undefined ? 'it stopped' : `it stopped; the end of its log ${path}: fatal in ${path}`;
        expect(await withLastLines(failure, service.command, files)).toMatchObject({ message });
      },
    );
    test(`every service is listed (${logRotation.fileSize}, ${debug})`, () => {
      expect(services.map(({ name }) => name).toSorted()).toEqual(Object.keys(logs).toSorted());
    });
  }
}
