export type NameRule = 'subdomain' | 'label' | 'dns1035' | 'path';

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

interface Pattern {
  rule: string;
  regex: string;
  examples: readonly string[];
  maxLength: number;
}

const patterns: Record<'subdomain' | 'label' | 'dns1035' | 'labelValue' | 'qualified' | 'configKey', Pattern> = {
  subdomain: {
    rule: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    regex: `${label}(\\.${label})*`,
    examples: ['example.com'],
    maxLength: 253,
  },
  label: {
    rule: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    regex: label,
    examples: ['my-name', '123-abc'],
    maxLength: 63,
  },
  dns1035: {
    rule: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    regex: '[a-z]([-a-z0-9]*[a-z0-9])?',
    examples: ['my-name', 'abc-123'],
    maxLength: 63,
  },
  labelValue: {
    rule: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    regex: `(${qualified})?`,
    examples: ['MyValue', 'my_value', '12345'],
    maxLength: 63,
  },
  qualified: {
    rule: "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    regex: qualified,
    examples: ['MyName', 'my.name', '123-abc'],
    maxLength: 63,
  },
  configKey: {
    rule: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    regex: '[-._a-zA-Z0-9]+',
    examples: ['key.name', 'KEY_NAME', 'key-name'],
    maxLength: 253,
  },
};

/** Problems of a name, in the wording of the API server. A generateName may end in a dash. */
export function nameProblems(rule: NameRule, name: string, asPrefix = false): string[] {
  if (rule === 'path') return pathProblems(name, asPrefix);
  const checked = asPrefix ? name.replace(/.-$/, 'a') : name;
  if (rule === 'label' && isDottedName(checked))
    return [...lengthProblems(patterns.label, checked), 'must not contain dots'];
  return problems(patterns[rule], checked);
}

function isDottedName(name: string): boolean {
  return name.includes('.') && problems(patterns.subdomain, name).length === 0;
}

export function labelKeyProblem(key: string): string | undefined {
  const parts = key.split('/');
  const [name = '', prefix] = parts.toReversed();
  if (parts.length > 2) {
    const { rule, regex, examples } = patterns.qualified;
    return `a qualified name ${rule} ${hint(regex, examples)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
  }
  const wrong = [
    ...(prefix === undefined ? [] : prefixProblems(prefix)),
    ...(name === '' ? ['name part must be non-empty'] : []),
    ...problems(patterns.qualified, name).map(problem => `name part ${problem}`),
  ];
  return wrong.length === 0 ? undefined : wrong.join('; ');
}

export function labelValueProblem(value: string): string | undefined {
  return problems(patterns.labelValue, value)[0];
}

/** Keys of ConfigMaps and Secrets. */
export function configKeyProblems(key: string): string[] {
  const wrong = problems(patterns.configKey, key);
  if (key === '.') wrong.push("must not be '.'");
  if (key === '..') wrong.push("must not be '..'");
  else if (key.startsWith('..')) wrong.push("must not start with '..'");
  return wrong;
}

function prefixProblems(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  return problems(patterns.subdomain, prefix).map(problem => `prefix part ${problem}`);
}

function problems(pattern: Pattern, text: string): string[] {
  const { rule, regex, examples } = pattern;
  // Longer strings are rejected by their length without running the pattern.
  const fits = text.length <= 4096 && new RegExp(`^(${regex})$`).test(text);
  return [...lengthProblems(pattern, text), ...(fits ? [] : [`${rule} ${hint(regex, examples)}`])];
}

function lengthProblems({ maxLength }: Pattern, text: string): string[] {
  return text.length > maxLength ? [`must be no more than ${maxLength} characters`] : [];
}

function hint(regex: string, examples: readonly string[]): string {
  return `(e.g. ${examples.map(example => `'${example}'`).join(',  or ')}, regex used for validation is '${regex}')`;
}

function pathProblems(name: string, asPrefix: boolean): string[] {
  if (!asPrefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%'].filter(part => name.includes(part)).map(part => `may not contain '${part}'`);
}
