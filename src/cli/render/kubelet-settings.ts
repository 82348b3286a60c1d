import type { AppError } from '#base/errors.ts';
import { configMapName } from '#contract/names.ts';
import type { KubeObject } from '#contract/object.ts';
import { type KubeletSettings, kubeletSettingsFor, readKubeletProfiles } from '#node/desired/kubelet-settings.ts';
import { find } from '../find.ts';

/** For a host without labels. */
export function kubeletSettings(objects: readonly KubeObject[], findings: AppError[]): KubeletSettings {
  const map = find(objects, { kind: 'ConfigMap', name: configMapName.kubeletConfig });
  if (map === undefined) return {};
  const { profiles, problems } = readKubeletProfiles(map.fields.stringMap('data'), map.label);
  const chosen = kubeletSettingsFor(profiles);
  findings.push(...problems, ...chosen.problems);
  return chosen.settings;
}
