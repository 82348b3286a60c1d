import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';

/** Which layer may import which: the table of ARCHITECTURE.md, enforced. */
const mayImport: Record<string, readonly string[]> = {
  base: [],
  contract: ['base'],
  kube: ['base'],
  host: ['base'],
  cluster: ['base', 'contract', 'kube'],
  payload: ['base', 'contract', 'kube'],
  node: ['base', 'contract', 'cluster', 'kube', 'host', 'payload'],
  controllers: ['base', 'contract', 'cluster', 'kube', 'host', 'node'],
  operator: ['base', 'contract', 'cluster', 'kube', 'host', 'payload', 'node', 'controllers'],
  install: ['base', 'contract', 'cluster', 'kube', 'payload', 'node', 'controllers', 'operator'],
  agent: ['base', 'contract', 'kube'],
  cli: ['base', 'contract', 'cluster', 'kube', 'host', 'payload', 'node', 'controllers', 'install'],
  sandbox: ['base', 'contract', 'kube', 'host', 'agent'],
  bin: [
    'base',
    'contract',
    'cluster',
    'kube',
    'host',
    'payload',
    'node',
    'controllers',
    'operator',
    'install',
    'agent',
    'cli',
    'sandbox',
  ],
};

/** Files without node: imports, clock, timers and randomness; what they need from outside arrives as an argument. */
const withoutAmbient =
  /^(contract\/|node\/desired\/|controllers\/[^/]+\/(?!controller\.ts|observe\.ts)|(.*\/)?(decide|plan)\.ts)/;

/** Pure files also hold no state and do not wait: everything beside a decide.ts except controller.ts, observe.ts and act/. */
const pureInControllers = /^controllers\/[^/]+\/(?!controller\.ts|observe\.ts|act\/)/;
const pureInNode =
  /^node\/(desired\/|(acceptance-problem|record|payload)\.ts|lifecycle\/(instance-status|configure\/(name-check|preflight))\.ts)/;
const pureByName = /^contract\/|(^|\/)(decide|plan)\.ts$/;
const isPure = (path: string) => [pureByName, pureInControllers, pureInNode].some(pattern => pattern.test(path));

/** Whoever speaks SSH: the operator as a client, the simulated hosts of the sandbox as servers. */
const sshFolders = ['host/ssh/', 'sandbox/machines/ssh/'];

interface Import {
  from: string;
  typeOnly: boolean;
}

/** All rules a file breaks, each as one line. `path` is relative to src/, with forward slashes. */
export function brokenRules(path: string, text: string): string[] {
  if (path.endsWith('.test.ts')) return [];
  const imports = importsOf(text);
  return [
    ...imports.flatMap(item => importProblem(path, item)),
    ...(withoutAmbient.test(path) ? ambientProblems(path, text, imports) : []),
    ...(isPure(path) ? stateProblems(withoutComments(text)).map(problem => `${problem} (${path})`) : []),
    ...clockProblems(path, text),
  ].map(problem => `src/${path}: ${problem}`);
}

export function importsOf(text: string): Import[] {
  const statements = text.matchAll(
    /^(?:import|export)\s+(type\s+)?[^'"`;]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gms,
  );
  return [...statements].map(match => ({
    from: match[2] ?? match[3] ?? match[4] ?? '',
    typeOnly: match[1] !== undefined,
  }));
}

function importProblem(path: string, { from, typeOnly }: Import): string[] {
  const layer = path.split('/')[0] ?? '';
  const allowed = mayImport[layer];
  if (allowed === undefined) return [`folder ${layer} is in no layer`];
  if (from.startsWith('.')) {
    const target = normalize(join(dirname(path), from)).split(sep)[0];
    return target === layer ? detourProblem(path, from) : [`imports ${from} across layers; write #layer/file.ts`];
  }
  if (from.startsWith('#')) return layerProblem(path, from, typeOnly, allowed);
  return libraryProblem(path, from);
}

function layerProblem(path: string, from: string, typeOnly: boolean, allowed: readonly string[]): string[] {
  const [layer = '', target = ''] = [path.split('/')[0], from.slice(1).split('/')[0]];
  if (target !== layer && !allowed.includes(target)) return [`${layer} must not import ${target} (${from})`];
  if (!path.startsWith('node/desired/')) {
    const decidesOnly = layer === 'cli' && target === 'controllers' && !from.endsWith('/decide.ts');
    return decidesOnly ? [`the command line may import only decide.ts of a controller, not ${from}`] : [];
  }
  if (target === 'cluster' && !typeOnly) return [`node/desired may import only types of cluster (${from})`];
  if (['kube', 'host'].includes(target)) return [`node/desired must not import ${target} (${from})`];
  return target === 'node' && !from.startsWith('#node/desired/')
    ? [`node/desired must not leave its folder (${from})`]
    : [];
}

function detourProblem(path: string, from: string): string[] {
  const target = normalize(join(dirname(path), from)).replaceAll(sep, '/');
  const leaves = path.startsWith('node/desired/') && !target.startsWith('node/desired/');
  return leaves ? [`node/desired must not leave its folder (${from})`] : [];
}

function libraryProblem(path: string, from: string): string[] {
  if (from === 'ssh2' && !sshFolders.some(folder => path.startsWith(folder)))
    return ['only host/ssh and sandbox/machines/ssh may import the SSH library'];
  if (from === 'koffi' && !path.startsWith('agent/win32/')) return ['only agent/win32 may load native code'];
  return [];
}

function ambientProblems(path: string, text: string, imports: readonly Import[]): string[] {
  const node = imports
    .filter(item => item.from.startsWith('node:'))
    .map(item => `pure code must not import ${item.from}`);
  const impure = /\b(Date\.now|new Date\(\)|Math\.random|process\.|performance\.|setTimeout|fetch\()/.exec(
    withoutComments(text),
  );
  return [...node, ...(impure ? [`pure code must not use ${impure[1] ?? ''}`] : [])].map(what => `${what} (${path})`);
}

const writes = String.raw`(?:\.(?:set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill)\(|\[[^\]]*\] =[^=]|(?:\.\w+)+ =[^=])`;
const constants = /^(?:export )?const (\w+)(?:: ([^=]+?))? = (new (\w+)|\[|\{)?/gm;
/** Their objects cannot change, or the check below sees who changes them. */
const harmless = ['Error', 'Map', 'RegExp', 'Set', 'TextDecoder', 'TextEncoder', 'URL'];

/** Relies on the formatter: only what stands at the left margin is at top level. `code` has no comments. */
export function stateProblems(code: string): string[] {
  const problems = /^(?:export )?(?:let|var) /m.test(code) ? ['pure code may hold no state at top level'] : [];
  if (/\b(?:async|await)\b/.test(code)) problems.push('pure code must not wait');
  for (const [, name = '', type = '', , made] of code.matchAll(constants)) {
    const isWritten = new RegExp(String.raw`(?<![\w.#])${name}${writes}|Object\.assign\(${name}\b`).test(code);
    if (isWritten) problems.push(`pure code may hold no state at top level: ${name} is written`);
    if (made !== undefined && !harmless.includes(made)) problems.push(`pure code may hold no ${made} at top level`);
    if ((made === 'Map' || made === 'Set') && !type.startsWith('Readonly'))
      problems.push(`${name} must be a Readonly${made}`);
  }
  return [...problems, ...classBodies(code).flatMap(fieldProblems)];
}

function classBodies(code: string): string[] {
  return [...code.matchAll(/^(?:export )?(?:abstract )?class [^{]*\{$(.*?)^\}$/gms)].map(([, body = '']) => body);
}

function fieldProblems(body: string): string[] {
  const fields = body.matchAll(/^ {2}((?:[a-z]+ )*)(#?\w+)[?!]?(?:: [^(]*?)?(?: = (.*))?;$/gm);
  const mutable = [...fields].filter(
    ([, words = '', , value = '']) => !words.includes('readonly ') || /^new (?:Weak)?(?:Map|Set)\b|^\[\]/.test(value),
  );
  const written = [...body.matchAll(new RegExp(String.raw`\bthis\.(#?\w+)${writes}`, 'g'))];
  return [...new Set([...mutable.map(([, , name]) => name), ...written.map(([, name]) => name)])].map(
    name => `pure code may hold no state: field ${name} can change`,
  );
}

function clockProblems(path: string, text: string): string[] {
  if (path === 'base/clock.ts') return [];
  const code = withoutComments(text);
  const problems = /\bDate\.now\b/.test(code) ? ['only base/clock.ts may read the clock'] : [];
  if (!path.startsWith('bin/') && /\bprocess\.(argv|env)\b/.test(code))
    problems.push('only bin may read process.argv and process.env');
  return problems;
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

function main(): void {
  const source = join(import.meta.dirname, '..', 'src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'));
  const problems = files.flatMap(name =>
    brokenRules(name.replaceAll(sep, '/'), readFileSync(join(source, name), 'utf8')),
  );
  for (const problem of problems) console.error(problem);
  console.log(`layers: ${files.length} files checked, ${problems.length} problems`);
  if (files.length === 0 || problems.length > 0) process.exitCode = 1;
}

if (import.meta.main) main();
