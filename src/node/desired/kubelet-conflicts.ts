import { isRecord, ownMember } from '#base/fields.ts';
import { defaultKubeletSettings } from './kubelet-defaults.ts';
import { durationMs, percentOf, type SettingValue } from './kubelet-fields.ts';

/** Settings that do not fit together. */
export interface Conflict {
  what: string;
  /** Imperative, without its first capital. */
  fix: string;
}

type Settings = Readonly<Record<string, SettingValue>>;

/** Rules between fields, with the defaults of those that are not set: the kubelet would not start, or evict too early. */
export function kubeletConflicts(settings: Settings): Conflict[] {
  return rules.flatMap(rule => rule(settings) ?? []);
}

type Rule = (settings: Settings) => Conflict | undefined;

const rules: readonly Rule[] = [
  settings => {
    const low = Number(valueOf(settings, 'imageGCLowThresholdPercent'));
    const high = Number(valueOf(settings, 'imageGCHighThresholdPercent'));
    if (low < high) return undefined;
    return {
      what: `kubelet.imageGCLowThresholdPercent (${low}) is not below imageGCHighThresholdPercent (${high})`,
      fix: 'set imageGCLowThresholdPercent below imageGCHighThresholdPercent',
    };
  },
  settings => {
    // The kubelet takes zero for its default.
    const leastMs = durationMs(valueOf(settings, 'imageMinimumGCAge')) || 120_000;
    const mostMs = durationMs(valueOf(settings, 'imageMaximumGCAge')) ?? 0;
    if (mostMs === 0 || mostMs > leastMs) return undefined;
    return {
      what: 'kubelet.imageMaximumGCAge is not above imageMinimumGCAge, which defaults to 2m',
      fix: 'set imageMaximumGCAge above imageMinimumGCAge, or to 0s to disable it',
    };
  },
  settings => {
    const pulls = Number(valueOf(settings, 'maxParallelImagePulls'));
    if (valueOf(settings, 'serializeImagePulls') !== true || !(pulls > 1)) return undefined;
    return {
      what: `kubelet.maxParallelImagePulls is ${pulls}, but serializeImagePulls is true`,
      fix: 'set serializeImagePulls to false, or remove maxParallelImagePulls',
    };
  },
  settings => {
    const [soft, periods] = [mapOf(settings, 'evictionSoft'), mapOf(settings, 'evictionSoftGracePeriod')];
    const lonely = [...Object.keys(soft), ...Object.keys(periods)].find(
      signal => !(Object.hasOwn(soft, signal) && Object.hasOwn(periods, signal)),
    );
    if (lonely === undefined) return undefined;
    return {
      what: `kubelet.evictionSoft and evictionSoftGracePeriod do not both have ${lonely}`,
      fix: `set ${lonely} in evictionSoft and in evictionSoftGracePeriod`,
    };
  },
  settings => {
    const [soft, hard] = [mapOf(settings, 'evictionSoft'), mapOf(settings, 'evictionHard')];
    const useless = Object.keys(soft).find(signal => {
      const [early, late] = [percentOf(soft[signal]), percentOf(hard[signal])];
      return early !== undefined && late !== undefined && early <= late;
    });
    if (useless === undefined) return undefined;
    return {
      what: `kubelet.evictionSoft has ${useless} ${soft[useless]}, not above the ${hard[useless]} of evictionHard`,
      fix: `set ${useless} higher in evictionSoft than in evictionHard`,
    };
  },
];

/** Of the kubelet itself, for fields that its configuration file leaves out. */
const kubeletDefaults: Settings = {
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
};

function valueOf(settings: Settings, name: string): SettingValue | undefined {
  return ownMember(settings, name) ?? ownMember({ ...kubeletDefaults, ...defaultKubeletSettings }, name);
}

function mapOf(settings: Settings, name: string): Readonly<Record<string, string>> {
  const [base, over] = [ownMember(defaultKubeletSettings, name), ownMember(settings, name)];
  return {
    ...(isRecord(base) && base),
    ...(isRecord(over) && over),
  };
}
