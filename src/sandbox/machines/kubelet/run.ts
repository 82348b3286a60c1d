import { ensureIdentity, ensureServingCertificate, keepIdentity, RequestDenied } from './credentials.ts';
import type { Running } from './kubelet-host.ts';
import { NodeReporter } from './node-reporter.ts';
import { type KubeletSettings, readSettings } from './settings.ts';

/** How long to retry without a certificate; then the kubelet exits, to be restarted. */
const bootstrapLimitMs = 60_000;
const pauseMs = 1000;
const uninitialized = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };

/** A kubelet without pods, from bootstrap to a Ready Node. Runs until the signal is aborted. */
export async function runKubelet(running: Running): Promise<void> {
  const { flags, host, faults, clock, log, signal } = running;
  const settings = readSettings(await host.read(flags.config), flags.config);
  const name = (flags.hostnameOverride ?? host.hostName()).trim().toLowerCase();
  log.info('Starting', { node: name, ...faults });
  try {
    await Promise.all([run(name, settings, running), crashLater(running)]);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await clock.sleep(faults.slowStopMs);
  log.info('Stopped');
}

async function run(name: string, settings: KubeletSettings, running: Running): Promise<void> {
  const { flags, host, clock, faults } = running;
  await retry(() => ensureIdentity(name, running), running, clock.monotonicMs() + bootstrapLimitMs);
  const client = await host.connect(flags.kubeconfig);
  try {
    const taints = [...settings.taints, ...(flags.isOfCloud ? [uninitialized] : [])];
    const facts = { ...settings, taints, name, nodeIp: flags.nodeIp, labels: flags.labels, host };
    const reporter = new NodeReporter(client, facts, running);
    const registered = register(reporter, running);
    // A request for a serving certificate is approved for an existing Node only.
    if (!faults.noRegister) await registered;
    const tasks: [everyMs: number, task: () => Promise<void>][] = [
      [5000, () => keepIdentity(client, name, settings, running)],
    ];
    if (settings.requestsServingCertificate)
      tasks.push([30_000, () => ensureServingCertificate(client, name, running)]);
    const reports = registered.then(() =>
      Promise.all([every(1000, () => reporter.report(), running), every(10_000, () => reporter.renewLease(), running)]),
    );
    await Promise.all([reports, ...tasks.map(([everyMs, task]) => every(everyMs, task, running))]);
  } finally {
    await client.close();
  }
}

/** Waits for the end of the fault that prevents it. */
async function register(reporter: NodeReporter, running: Running): Promise<void> {
  while (running.faults.noRegister) await running.clock.sleep(pauseMs, running.signal);
  await retry(() => reporter.register(), running);
}

async function crashLater({ faults: { crashAfterMs }, host, clock, signal }: Running): Promise<void> {
  if (crashAfterMs === undefined) return;
  await clock.sleep(crashAfterMs, signal);
  host.crash();
}

/** Retries until `lastAttemptMs`, then rejects with the last error. */
async function retry(work: () => Promise<void>, running: Running, lastAttemptMs = Infinity): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      running.signal.throwIfAborted();
      if (error instanceof RequestDenied || running.clock.monotonicMs() >= lastAttemptMs) throw error;
      running.log.error('Failed; retrying', { error });
    }
    await running.clock.sleep(pauseMs, running.signal);
  }
}

/** Repeats forever; failures are logged. */
async function every(ms: number, work: () => Promise<void>, running: Running): Promise<never> {
  for (;;) {
    try {
      await work();
    } catch (error) {
      running.signal.throwIfAborted();
      running.log.error('Failed; retrying', { error });
    }
    await running.clock.sleep(ms, running.signal);
  }
}
