import type { KubeResource } from '#kube/resource.ts';
import { joinText, jsonText, type SafeText, safe, yamlText } from '../safe-text.ts';

export const manifestForms = ['yaml', 'json'] as const;

/** Objects as `kubectl apply -f -` reads them: YAML documents, or one JSON list. */
export function manifestText(objects: readonly KubeResource[], form: (typeof manifestForms)[number]): SafeText {
  if (form === 'yaml') return joinText(objects.map(yamlText), safe`---\n`);
  const [only] = objects;
  return jsonText(objects.length === 1 ? only : { apiVersion: 'v1', kind: 'List', items: objects });
}
