import { commandHelp } from '#base/command-line.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { apiRefused } from '../../api-refused.ts';
import { errorData, errorText, table } from '../../output.ts';
import { jsonText, oneLine, printable, safe, yamlText } from '../../safe-text.ts';
import { openClient } from '../../status/connection.ts';
import type { ExitCode, LiveTerminal } from '../../terminal.ts';
import { checkUpgrade, ourHosts, type UpgradeCheck } from './decide.ts';
import { readUpgradeFacts, type UpgradeFacts } from './facts.ts';
import { hostVersion } from './hosts.ts';
import { checkUpgradeLine, readUpgradeOptions } from './options.ts';

/** Runs `wmco check upgrade`. */
export async function checkUpgradeProgram(words: readonly string[], terminal: LiveTerminal): Promise<ExitCode> {
  const options = readUpgradeOptions(words, terminal.environment);
  if (options === undefined) {
    terminal.out(printable(commandHelp(checkUpgradeLine)));
    return 0;
  }
  const client = await openClient(options, terminal);
  try {
    const { clock, signal } = terminal;
    const deps = { client, namespace: options.namespace, clock };
    const facts = await readUpgradeFacts(deps, options.target, signal);
    const checks = checkUpgrade(facts);
    const isGo = checks.every(({ level }) => level !== 'bad');
    if (options.form === 'text') printChecks(checks, facts, terminal);
    else terminal.out((options.form === 'json' ? jsonText : yamlText)(dataOf(checks, facts, isGo)), 'data');
    return isGo ? 0 : 1;
  } catch (error) {
    throw apiRefused(error, { permission: 'to read what `wmco status` reads' });
  } finally {
    await client.close();
  }
}

const marks = { ok: '  ok ', note: '  -- ', bad: '  BAD' } as const;

function printChecks(checks: readonly UpgradeCheck[], { view, target }: UpgradeFacts, terminal: LiveTerminal): void {
  const failed = checks.filter(({ level }) => level === 'bad').length;
  const what = target === undefined ? 'an upgrade of the cluster' : `an upgrade of the cluster to ${target}`;
  const answer =
    failed === 0
      ? `Go: nothing on Windows nodes stands against ${what}.`
      : `Do not start ${what}: ${failed} of ${checks.length} checks failed.`;
  terminal.out(safe`${oneLine(answer)}\n`);
  const rows = checks.map(({ check, level, detail }) => [marks[level], check, detail]);
  terminal.out(safe`${printable(table(rows))}\n`);
  for (const note of view.notes) terminal.out(safe`Note: ${oneLine(note)}\n`);
  for (const error of checks.flatMap(({ findings }) => findings)) terminal.err(safe`${errorText(error)}\n`);
}

function dataOf(checks: readonly UpgradeCheck[], { view, server, target, payload }: UpgradeFacts, go: boolean) {
  return {
    go,
    server,
    target,
    payloadKubelet: payload,
    checks: checks.map(({ findings, ...check }) => ({ ...check, findings: findings.map(errorData) })),
    hosts: ourHosts(view).map(host => ({
      name: host.name,
      phase: host.phase,
      node: host.nodeName,
      isReady: host.node?.ready,
      version: hostVersion(host).version,
      claimedVersion: host.node?.annotations[nodeAnnotation.version],
      kubelet: host.node?.kubeletVersion,
    })),
    notes: view.notes,
  };
}
