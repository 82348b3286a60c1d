import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { dir, file } from '#contract/paths.ts';
import { acceptedFile } from '../accepted.ts';
import { failureEvent, outcomeEvent, renewalEvent, repairEvent, settingsEvent } from '../controller/events.ts';
import { knownGoodFile } from '../known-good.ts';
import { scriptCacheFile } from '../services/cached-scripts.ts';
import { stateFile } from '../state.ts';
import { verbs } from './all.ts';
import { flagOf, type FlagName, flags } from './flags.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/agent.md'), 'utf8');
const rows = page.split('\n').filter(line => line.startsWith('| '));
const rowOf = (flag: FlagName) => rows.find(line => line.split('|')[1]?.match(`--${flag}[ \`]`)) ?? '';

test('docs/agent.md lists every verb and its required flags', () => {
  for (const { name, required } of verbs) {
    const row = rows.find(line => line.startsWith(`| \`${name}\` |`)) ?? '';
    expect(
      row
        .split('|')
        .at(-2)
        ?.match(/--[\w-]+/g) ?? [],
    ).toEqual(required.map(flag => `--${flag}`));
  }
});

test('docs/agent.md lists every flag and its default', () => {
  for (const name of Object.keys(flags) as FlagName[]) {
    expect(rowOf(name)).not.toBe('');
    expect(rowOf(name)).toContain(flagOf(name).default ?? '');
  }
});

test('docs/agent.md lists the verbs of every flag', () => {
  for (const { name: verb, required, optional, changesHost } of verbs) {
    const leader: FlagName[] = changesHost ? ['leader'] : [];
    for (const flag of [...required, ...optional, ...leader]) {
      expect(rowOf(flag).split('|')[2]).toContain(`\`${verb}\``);
    }
  }
});

test('docs/agent.md lists every event', () => {
  const failed = (code: 'SERVICES_INCOMPLETE' | 'INPUT_UNREADABLE' | 'OBJECT_MISSING') =>
    failureEvent(new AppError(code, '', { remedy: '' }));
  const events = [
    failed('SERVICES_INCOMPLETE'),
    failed('INPUT_UNREADABLE'),
    failed('OBJECT_MISSING'),
    settingsEvent([]),
    outcomeEvent({ did: 'wait', for: '' }),
    repairEvent([]),
    renewalEvent(''),
  ];
  for (const event of events) expect(page).toContain(`| \`${event?.reason}\` | ${event?.type} |`);
});

test('docs/agent.md lists the files of the agent', () => {
  const paths = [stateFile, knownGoodFile, acceptedFile, scriptCacheFile, file.importedCerts, file.agentKubeconfig];
  for (const path of [...paths, dir.agentCerts, dir.staged, dir.agentNative, dir.agentLog])
    expect(page).toContain(path);
});
