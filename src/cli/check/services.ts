import { type AppError, attempt } from '#base/errors.ts';
import { openshiftFacts } from '#cluster/openshift.ts';
import type { KubeObject } from '#contract/object.ts';
import { configMapName } from '#contract/names.ts';
import { checkContent } from '#contract/services/compare.ts';
import type { ServicesManifest } from '#contract/services/manifest.ts';
import { parseManifest } from '#contract/services/parse.ts';
import { servicesWarnings } from '#contract/services/validate.ts';
import { versionOfServicesConfigMap } from '#contract/version.ts';
import { servicesManifest } from '#node/desired/services.ts';
import type { Command, Options } from '../command.ts';
import { missingObject, ofKind } from '../find.ts';
import { oneLine } from '../safe-text.ts';
import { errorData } from '../output.ts';
import { settingsFrom } from '../settings.ts';

interface Verdict {
  label: string;
  services: string[];
  warnings: string[];
  error: AppError | undefined;
}

export const checkServices: Command = {
  name: 'services',
  summary: 'check that services ConfigMaps are valid and match what this operator writes',
  example: 'wmco check services -f examples/windows-services.yaml -f examples/cluster.yaml',
  reads: `ConfigMaps ${configMapName.servicesPrefix}<version>; the objects of \`render services\` to compare the content, too`,
  options: ['debug', 'env'],
  run({ objects }, options) {
    const maps = ofKind(objects, 'ConfigMap').filter(({ meta }) => versionOfServicesConfigMap(meta.name) !== undefined);
    if (maps.length === 0) throw missingObject({ kind: 'ConfigMap', name: `${configMapName.servicesPrefix}<version>` });
    const expected = expectedManifest(objects, options);
    const verdicts = maps.map(map => judge(map, expected));
    const data = verdicts.map(({ error, ...verdict }) => ({
      ...verdict,
      ok: error === undefined,
      ...(error && { error: errorData(error) }),
    }));
    return {
      output: { text: verdicts.map(text).join('\n'), data },
      findings: verdicts.flatMap(({ error }) => error ?? []),
    };
  },
};

/** Undefined when the input lacks the cluster objects that are needed to compare. */
function expectedManifest(objects: readonly KubeObject[], options: Options): ServicesManifest | undefined {
  const settings = settingsFrom(options);
  const { facts } = openshiftFacts(objects, settings);
  return facts && servicesManifest(facts, settings);
}

function judge(map: KubeObject, expected: ServicesManifest | undefined): Verdict {
  const parsed = attempt(() => parseManifest(map.fields.stringMap('data'), map.label));
  if (!parsed.ok) return { label: map.label, services: [], warnings: [], error: parsed.error };
  const content = attempt(() => expected && checkContent(parsed.value, expected, map.label));
  return {
    label: map.label,
    services: parsed.value.services.map(({ name }) => name),
    warnings: servicesWarnings(parsed.value.services),
    error: content.ok ? undefined : content.error,
  };
}

function text({ label, services, warnings, error }: Verdict): string {
  const head = `${error === undefined ? 'ok ' : 'BAD'}  ${oneLine(label)}`;
  const order = services.length === 0 ? [] : [`     starts ${oneLine(services.join(', '))}`];
  return [head, ...order, ...warnings.map(warning => `     note: ${oneLine(warning)}`)].join('\n');
}
