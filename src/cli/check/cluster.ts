import type { OperatorSettings } from '#cluster/facts.ts';
import { type AppError, attempt } from '#base/errors.ts';
import { checkCluster, type CheckResult } from '#cluster/openshift.ts';
import { configMapName } from '#contract/names.ts';
import type { KubeObject } from '#contract/object.ts';
import { windowsInstanceKind } from '#contract/windows-instance/resource.ts';
import { kubeletProblems, readKubeletProfiles } from '#node/desired/kubelet-settings.ts';
import { isRotating, notRotated } from '#node/desired/service-logs.ts';
import { type Command, textOption } from '../command.ts';
import { find, ofKind, textData } from '../find.ts';
import { errorData, table } from '../output.ts';
import { settingsFrom } from '../settings.ts';

export const checkClusterCommand: Command = {
  name: 'cluster',
  summary: 'check whether a cluster supports Windows nodes: network, versions, platform',
  example: 'wmco check cluster -f examples/cluster.yaml --server-version v1.36.2',
  reads:
    'Networks, Infrastructure, APIServer, Proxy, MachineConfigs, ControllerConfig, ConfigMap windows-kubelet-config, and Nodes unless --server-version is given',
  options: ['serverVersion', 'env'],
  run({ objects }, options) {
    const settings = settingsFrom(options);
    const results = checkCluster(objects, settings, textOption(options, 'serverVersion'));
    const bad = results.filter(({ ok }) => !ok).length;
    const summary =
      bad === 0
        ? 'supports Windows nodes'
        : `does not support Windows nodes: ${bad} of ${results.length} checks failed`;
    const kubelet = checkKubelet(objects);
    const all = [...results, ...kubelet.results];
    const rows = all.map(({ check, ok, detail }) => [ok ? '  ok ' : '  BAD', check, detail]);
    const data = all.map(({ error, ...result }) => ({ ...result, ...(error && { error: errorData(error) }) }));
    return {
      output: { text: [summary, table(rows), ...logNotes(settings)].join('\n'), data },
      findings: [...results.flatMap(({ error }) => error ?? []), ...kubelet.problems],
    };
  },
};

/** Profiles of kubelet settings, if the input has them; they do not decide whether Windows nodes are supported. */
function checkKubelet(objects: readonly KubeObject[]): { results: CheckResult[]; problems: AppError[] } {
  const map = find(objects, { kind: 'ConfigMap', name: configMapName.kubeletConfig });
  if (map === undefined) return { results: [], problems: [] };
  const { data, failures } = textData(map);
  const read = readKubeletProfiles(data, map.label);
  const labels = ofKind(objects, windowsInstanceKind).flatMap(({ fields }) => {
    const result = attempt(() => fields.object('spec').stringMap('labels'));
    return result.ok ? [result.value] : [];
  });
  const problems = [...failures.map(({ error }) => error), ...kubeletProblems(read, [{}, ...labels])];
  const names = read.profiles.map(({ name }) => name).join(', ') || 'none';
  const detail = `profiles ${names}${problems.length === 0 ? '' : `; ${problems.length} problems`}`;
  return { results: [{ check: 'kubelet settings', ok: problems.length === 0, detail }], problems };
}

/** A cluster supports Windows nodes also without log rotation. */
function logNotes({ logRotation }: Pick<OperatorSettings, 'logRotation'>): string[] {
  if (isRotating(logRotation)) return [];
  const services = notRotated(logRotation).join(', ');
  return [
    `note: without SERVICES_LOG_FILE_SIZE the logs of ${services} are not rotated and fill disks (docs/logs.md); --env sets it here`,
  ];
}
