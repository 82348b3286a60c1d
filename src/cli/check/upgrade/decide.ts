import { AppError, attempt } from '#base/errors.ts';
import { checkServerVersion, minorsAhead, supportedServers } from '#cluster/server-version.ts';
import { countText } from '../../status/view/amounts.ts';
import { hostViews } from '../../status/view/cluster-hosts.ts';
import type { ClusterView, HostView } from '../../status/view/host-view.ts';
import { rolloutOf } from '../../status/view/rollout.ts';
import type { UpgradeFacts } from './facts.ts';
import { hostProblem, hostVersion, isOurs } from './hosts.ts';
import { hops, kubeletVersions, newestServer, skewProblem } from './skew.ts';

/** One line of the answer. A note does not stop an upgrade. */
export interface UpgradeCheck {
  check: string;
  level: 'ok' | 'note' | 'bad';
  detail: string;
  findings: AppError[];
}

interface Known extends UpgradeFacts {
  hosts: readonly HostView[];
}

/** Everything that must hold before the cluster is upgraded, in the order in which it is printed. */
export function checkUpgrade(facts: UpgradeFacts): UpgradeCheck[] {
  const known: Known = { ...facts, hosts: ourHosts(facts.view) };
  return [
    checkReading(facts.view),
    checkOperatorState(facts.view),
    checkHosts(known),
    checkVersions(known),
    checkRollout(facts.view),
    checkNow(known),
    ...(facts.target === undefined ? [] : checkTarget(known, facts.target)),
  ];
}

export function ourHosts(view: ClusterView): HostView[] {
  return hostViews(view).filter(host => isOurs(host, view));
}

function checkReading({ unread, notes }: ClusterView): UpgradeCheck {
  if (unread.length === 0) return ok('reading', 'all objects can be read');
  const reasons = notes.filter(note => note.includes('cannot be read'));
  const finding = new AppError('CLUSTER_UNREAD', reasons.join('; ') || `not read: ${unread.join(', ')}`, {
    remedy: 'Run it as a user with the permissions that `wmco status` needs (docs/status.md).',
  });
  return bad('reading', `${countText(unread.length, 'kind')} of objects cannot be read`, [finding]);
}

function checkOperatorState({ hasOperator, isOperatorRunning, operatorVersion, clusterProblems }: ClusterView) {
  const name = operatorVersion === '' ? 'an operator' : `operator ${operatorVersion}`;
  if (hasOperator === 'no')
    return note('operator', 'none is installed: what Nodes say about themselves is all there is');
  // What an operator that has ended reported may be over.
  if (!isOperatorRunning) return note('operator', `${name} does not run: no repairs, upgrades or approvals`);
  const findings = clusterProblems.map(
    ({ code, message, remedy }) =>
      new AppError('CLUSTER_UNSUITABLE', `the operator reports ${code}: ${message}`, {
        remedy: remedy || 'Run `wmco status`.',
      }),
  );
  if (findings.length === 0) return ok('operator', `${name} runs, and reports no problem of the cluster`);
  return bad('operator', `${name} reports ${countText(findings.length, 'problem')} of the cluster`, findings);
}

function checkHosts({ hosts, view }: Known): UpgradeCheck {
  if (hosts.length === 0) return note('hosts', 'there is no Windows host');
  const found = hosts.map(host => ({ name: host.name, problem: hostProblem(host, view) }));
  const findings = found.flatMap(({ problem }) => problem ?? []);
  const good = hosts.length - findings.length;
  if (findings.length > 0) {
    const names = found.flatMap(({ name, problem }) => (problem === undefined ? [] : [name]));
    return bad('hosts', `${good} of ${hosts.length} are Ready; not ${listText(names)}`, findings);
  }
  const cordoned = hosts.flatMap(({ name, node }) => (node?.unschedulable === true ? [name] : []));
  const all = hosts.length === 1 ? 'the only one is Ready' : `all ${hosts.length} are Ready`;
  return cordoned.length === 0
    ? ok('hosts', all)
    : note('hosts', `${all}; an administrator has cordoned ${listText(cordoned)}`);
}

function checkVersions({ hosts, view }: Known): UpgradeCheck {
  const versions = hosts.map(hostVersion);
  const different = [...new Set(versions.map(({ version }) => version))].sort();
  const findings = versions.flatMap(({ problem }) => problem ?? []);
  const [first] = different;
  if (first === undefined) return ok('version', 'there is none to compare');
  if (different.length > 1 || first === '') findings.unshift(differ(different, versions));
  else if (view.isOperatorRunning && view.operatorVersion !== '' && view.operatorVersion !== first)
    findings.unshift(behind(first, view.operatorVersion));
  if (findings.length > 0) return bad('version', different.map(text => text || 'unknown').join(', '), findings);
  const isClaimed = versions.every(each => each.isClaimed);
  return ok('version', `${first}${isClaimed ? ', as the Nodes say' : ' on all hosts'}`);
}

function differ(different: readonly string[], versions: readonly { host: string; version: string }[]): AppError {
  const groups = different.map(version => {
    const names = versions.filter(each => each.version === version).map(({ host }) => host);
    return `${version || 'unknown'} (${listText(names)})`;
  });
  return new AppError('NODES_DIFFER', `the hosts have different versions: ${groups.join(', ')}`, {
    remedy: 'Run `wmco rollout`: it says what holds the others back, such as a pin; wait until all have one version.',
  });
}

function behind(version: string, operator: string): AppError {
  return new AppError('NODES_DIFFER', `the hosts have ${version}, the operator ${operator}`, {
    remedy: 'Wait until the hosts are upgraded; `wmco rollout` shows how far they are.',
  });
}

function checkRollout(view: ClusterView): UpgradeCheck {
  const rollout = rolloutOf(view);
  const findings = [
    ...(rollout?.isStopped === true
      ? [open('a host was rolled back, and the roll-out is stopped', 'Run `wmco rollout`, which shows the choices.')]
      : []),
    ...(rollout?.isPaused === true
      ? [open('the roll-out is paused, so that no host would be upgraded', 'Run `wmco rollout resume`.')]
      : []),
    ...view.grants.map(({ instance, journey }) =>
      open(`host ${instance} holds a grant of the budget for its ${journey}`, 'Wait for its end: `wmco status -w`.'),
    ),
  ];
  const { hosts = 0, counts } = rollout ?? {};
  const left = counts === undefined ? 0 : hosts - counts.upgraded - counts.paused - counts.pinned;
  if (left > 0 && findings.length === 0 && view.isOperatorRunning)
    findings.push(open(`${left} of ${hosts} hosts are not upgraded for good`, 'Wait for it: `wmco rollout`.'));
  return findings.length === 0
    ? ok('roll-out', 'nothing is being upgraded, paused or stopped')
    : bad('roll-out', 'not over', findings);
}

function open(message: string, remedy: string): AppError {
  return new AppError('ROLLOUT_OPEN', message, { remedy });
}

function checkNow({ hosts, server, target }: Known): UpgradeCheck {
  const remedy = 'Upgrade the hosts or the cluster until they fit: docs/upgrades-and-eus.md#which-versions-fit.';
  const findings = hosts.flatMap(host => skewProblem(host, server, remedy) ?? []);
  const kubelets = kubeletVersions(hosts).join(', ') || 'none';
  const detail = `API server ${server}, kubelets ${kubelets}`;
  if (findings.length > 0) return bad('now', detail, findings);
  const limit = target === undefined && hosts.length > 0 ? newestServer(hosts) : undefined;
  return ok('now', limit === undefined ? detail : `${detail}: API servers up to ${limit} fit`);
}

function checkTarget(known: Known, target: string): UpgradeCheck[] {
  const { hosts, server } = known;
  const ahead = attempt(() => minorsAhead(target, server));
  const isBack = ahead.ok && ahead.value < 0;
  const remedy = wayAround(hosts, server);
  const skew = hosts.flatMap(host => skewProblem(host, target, remedy) ?? []);
  const findings = isBack ? [older(target, server)] : skew;
  const way = hops(server, target);
  const detail = `API server ${target}, kubelets ${kubeletVersions(hosts).join(', ') || 'none'}`;
  return [
    findings.length === 0 ? ok('target', detail) : bad('target', detail, findings),
    ...(way.length > 1 ? [note('way', `${way.join(', then ')}; run this check again before each`)] : []),
    checkPayload(known, target),
  ];
}

/** What to do when a kubelet does not fit the target. */
function wayAround(hosts: readonly HostView[], server: string): string {
  const limit = newestServer(hosts);
  const left = limit === undefined ? -1 : minorsAhead(limit, server);
  if (left < 0) return 'Fix what is reported about the kubelets now first.';
  const rest = 'the operator and with it the hosts, and then go on.';
  return left === 0 ? `Upgrade first ${rest}` : `Upgrade the cluster to ${limit} at most, then ${rest}`;
}

function older(target: string, server: string): AppError {
  return new AppError('SERVER_VERSION_UNSUPPORTED', `${target} is older than the API server ${server}`, {
    remedy: 'Give the version that the cluster is upgraded to with --to.',
  });
}

/** The operator does not start with an API server that its payload does not support. */
function checkPayload({ payload = '', view }: Known, target: string): UpgradeCheck {
  const range = attempt(() => supportedServers(payload));
  if (!range.ok) return note('payload', 'the operator has not reported which API servers it supports');
  const supported = `kubelet ${payload}, for API servers ${range.value.join(' to ')}`;
  const fits = attempt(() => checkServerVersion(target, payload));
  if (fits.ok) return ok('payload', supported);
  if (!view.isOperatorRunning) return note('payload', `${supported}: install a release that supports ${target}`);
  const remedy =
    `Uninstall the operator before the upgrade with \`wmco uninstall\`, which keeps the nodes in service, ` +
    `and install a release that supports ${target} after it.`;
  return bad('payload', supported, [new AppError('SERVER_VERSION_UNSUPPORTED', fits.error.message, { remedy })]);
}

const maxNames = 5;

function listText(names: readonly string[]): string {
  const more = names.length - maxNames;
  return `${names.slice(0, maxNames).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function ok(check: string, detail: string): UpgradeCheck {
  return { check, level: 'ok', detail, findings: [] };
}

function note(check: string, detail: string): UpgradeCheck {
  return { check, level: 'note', detail, findings: [] };
}

function bad(check: string, detail: string, findings: AppError[]): UpgradeCheck {
  return { check, level: 'bad', detail, findings };
}
