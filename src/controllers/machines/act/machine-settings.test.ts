import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { namespaceName, secretName } from '#contract/names.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { authorizedKey, publicKeyHash } from '#host/keys/public-key.ts';
import { secrets } from '#kube/resources.ts';
import { userData } from '#node/desired/user-data/user-data.ts';
import { fixedFacts, unknownFacts } from '../../../../test/kit/fixed-facts.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { newPrivateKey } from '../../../../test/kit/new-private-key.ts';
import { benchNamespace as namespace } from '../../../../test/kit/source-bench.ts';
import { WatchedApi } from '../../../../test/kit/watched-api.ts';
import { machineSettings } from './machine-settings.ts';

const pem = newPrivateKey();
const { publicKey } = parsePrivateKey(pem);
const right = userData('None', authorizedKey(publicKey));

function setUp(facts = fixedFacts()) {
  const api = new WatchedApi(manualClock());
  const put = (name: string, where: string, data: Record<string, string>) =>
    api.put(secrets, {
      metadata: { name, namespace: where },
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, toBase64(text)])),
    });
  const putKey = (text = pem) => put(secretName.privateKey, namespace, { 'private-key.pem': text });
  const putText = (text: string) => put(secretName.userData, namespaceName.machineApi, { userData: text });
  return { api, facts, putKey, putText, ...machineSettings(api.informers, facts, namespace) };
}

test('reports platform, key and whether Machines get the right text', () => {
  const { settings, putKey, putText } = setUp();
  putKey();
  putText(right);
  expect(settings()).toEqual({ platform: 'None', pubKeyHash: publicKeyHash(publicKey), userDataIsCurrent: true });
});

const texts: [name: string, text: string | undefined][] = [
  ['another text', 'x'],
  ['a string of another platform', userData('GCP', authorizedKey(publicKey))],
  ['a string of another key', userData('None', authorizedKey(parsePrivateKey(newPrivateKey()).publicKey))],
  ['no Secret', undefined],
];
for (const [name, text] of texts) {
  test(`reports that Machines get ${name}`, () => {
    const { settings, putKey, putText } = setUp();
    putKey();
    if (text !== undefined) putText(text);
    expect(settings()?.userDataIsCurrent).toBe(false);
  });
}

const unknown: [name: string, make: () => ReturnType<typeof setUp>][] = [
  ['the key', () => setUp()],
  ['the platform', () => withKey(setUp(unknownFacts()))],
  ['a key that can be used', () => withKey(setUp(), 'garbage')],
];
for (const [name, make] of unknown)
  test(`reports nothing without ${name}`, () => expect(make().settings()).toBeUndefined());

function withKey(made: ReturnType<typeof setUp>, text?: string): ReturnType<typeof setUp> {
  made.putKey(text);
  return made;
}

const causes: [name: string, change: (made: ReturnType<typeof setUp>) => void][] = [
  ['the key', made => void made.putKey(newPrivateKey())],
  ['the text of Machines', made => void made.putText('y')],
  ['the platform', made => made.facts.become({ platform: 'AWS' })],
];
for (const [name, change] of causes) {
  test(`reports a change of ${name}, until the listener is removed`, () => {
    const made = setUp();
    made.putKey();
    made.putText('x');
    let told = 0;
    const end = made.onSettingsChange(() => (told += 1));
    const before = told;
    change(made);
    expect(told).toBeGreaterThan(before);
    end();
    const after = told;
    change(made);
    expect(told).toBe(after);
  });
}
