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

/** Exit code 1 if any request failed, certificates were not renewed as often as they had to be, or a key was left. */
export async function run(report: Report, [minutes = '10', lifeSeconds = '120']: readonly string[]): Promise<void> {
  const { path } = await buildAgent({ entry: join(import.meta.dirname, '../src/bin/agent.ts') });
  const lifeMs = Number(lifeSeconds) * 1000;
  await using story = await startRotationScene(path, lifeMs);
  const figures = await rotate(story, Number(minutes) * 60_000);
  for (const [name, value] of Object.entries(figures)) report(name.replaceAll('_', ' '), value, unitOf(name));
  const recovery = await recover(story);
  for (const [name, value] of Object.entries(recovery)) report(name.replaceAll('_', ' '), value, unitOf(name));
  const wanted = Math.floor((Number(minutes) * 60_000) / lifeMs);
  const isFine = figures.rotations >= wanted && figures.key_files_at_most <= 4;
  if (!isFine || story.audit.refused().length > 0 || figures.warnings_and_errors > 0) process.exitCode = 1;
}

const unitOf = (name: string) => (name.includes('time') ? 'ms' : (name.split('_').at(-1) ?? ''));

/** Lets the agent write to its Node again and again while its certificates are renewed. */
async function rotate(story: RotationScene, durationMs: number) {
  const { agent, audit, host } = story;
  const issued = issuedTo(agent);
  let [turns, slowestMs, mostFiles] = [0, 0, 0];
  for (const endMs = performance.now() + durationMs; performance.now() < endMs; await delay(500)) {
    slowestMs = Math.max(slowestMs, await takeTurn(story, ++turns));
    mostFiles = Math.max(mostFiles, keyFilesOf(host).length);
  }
  return {
    rotations: issuedTo(agent) - issued,
    requests: audit.requests().length,
    failed_requests: audit.refused().length,
    passes: turns,
    longest_time_from_wish_to_version: Math.round(slowestMs),
    key_files_at_most: mostFiles,
    warnings_and_errors: agent.log('WARNING').length,
  };
}

/** Switches the host off and lets its certificate be one that expired an hour ago, so that nobody has to wait that long. */
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
  const passes = () => agent.log().filter(line => line.includes('The host is as wanted')).length;
  const before = passes();
  await host.start();
  const startMs = performance.now();
  const since = (isSo: () => boolean, what: string) =>
    scene.operator.waitFor(what, async () => (isSo() ? Math.round(performance.now() - startMs) : undefined), 120_000);
  return {
    time_from_boot_to_a_new_certificate: await since(() => expiryOf(host) > Date.now(), 'a certificate'),
    time_from_boot_to_configured: await since(() => passes() > before, 'a pass'),
  };
}
