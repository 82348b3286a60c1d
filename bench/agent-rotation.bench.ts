import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { identity } from '../src/contract/names.ts';
import { dir, file } from '../src/contract/paths.ts';
import { TestCa } from '../test/kit/certificates.ts';
import {
  expiryOf,
  issuedTo,
  keyFilesOf,
  type RotationScene,
  startRotationScene,
  takeTurn,
} from '../test/kit/winhost/rotation.ts';
import { buildAgent } from '../tools/build-agent/build-agent.ts';
import type { Report } from './run.ts';

export const description =
  'the agent on a Windows host with short certificates, then off for an hour; needs root [MINUTES] [SECONDS OF LIFE]';

const hourMs = 3_600_000;

/** Exit code 1 if a request failed, certificates were not renewed often enough, or a key was left. */
export async function run(report: Report, [minutes = '10', lifeSeconds = '120']: readonly string[]): Promise<void> {
  const { path } = await buildAgent({ entry: join(import.meta.dirname, '../src/bin/agent.ts') });
  const lifeMs = Number(lifeSeconds) * 1000;
  await using story = await startRotationScene(path, lifeMs);
  const figures = await rotate(story, Number(minutes) * 60_000);
  report('certificates renewed', figures.rotations, 'times');
  report('requests of the agent', story.audit.requests().length, 'requests');
  report('requests refused', story.audit.refused().length, 'requests');
  report('passes that wrote to the Node', figures.turns, 'passes');
  report('longest wait for such a pass', figures.slowestMs, 'ms');
  report('files with keys, at most', figures.mostFiles, 'files');
  report('warnings and errors in the log', story.agent.log('WARNING').length, 'lines');
  const wanted = Math.floor((Number(minutes) * 60_000) / lifeMs);
  if (figures.rotations < wanted || figures.mostFiles > 4 || story.agent.log('WARNING').length > 0)
    process.exitCode = 1;
  const { certificateMs, configuredMs } = await recover(story);
  report('from boot to a new certificate after an hour off', certificateMs, 'ms');
  report('from boot to a host as wanted after an hour off', configuredMs, 'ms');
  if (story.audit.refused().length > 0) process.exitCode = 1;
}

/** The agent writes repeatedly while its certificates are renewed. */
async function rotate(story: RotationScene, durationMs: number) {
  const { agent, host } = story;
  const issued = issuedTo(agent);
  let [turns, slowestMs, mostFiles] = [0, 0, 0];
  for (const endMs = performance.now() + durationMs; performance.now() < endMs; await delay(500)) {
    slowestMs = Math.max(slowestMs, await takeTurn(story, ++turns));
    mostFiles = Math.max(mostFiles, keyFilesOf(host).length);
  }
  return { rotations: issuedTo(agent) - issued, turns, slowestMs: Math.round(slowestMs), mostFiles };
}

/** Switches the host off and replaces its certificate with one that expired an hour ago. */
async function recover({ agent, host, scene, node }: RotationScene) {
  await host.cut();
  const pair = new TestCa('of the cluster').issue({
    commonName: `${identity.agentUserPrefix}${node}`,
    organizations: [identity.agentsGroup],
    notBefore: Date.now() - 2 * hourMs,
    notAfter: Date.now() - hourMs,
  });
  await host.drive.remove(dir.agentCerts);
  await host.drive.write(file.agentCertificate, `${pair.cert}${pair.key}`);
  const passes = () => agent.log().filter(line => line.includes('Host is configured')).length;
  const before = passes();
  await host.start();
  const startMs = performance.now();
  const since = (isSo: () => boolean, what: string) =>
    scene.operator.waitFor(what, async () => (isSo() ? Math.round(performance.now() - startMs) : undefined), 120_000);
  return {
    certificateMs: await since(() => expiryOf(host) > Date.now(), 'a certificate'),
    configuredMs: await since(() => passes() > before, 'a pass'),
  };
}
