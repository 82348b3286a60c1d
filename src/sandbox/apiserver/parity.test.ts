import { afterAll, beforeAll, test } from 'vitest';
import { parityCases } from '../../../test/kit/parity-cases/all.ts';
import { runCase, type Setting } from '../../../test/kit/parity-cases/run-case.ts';
import { Target } from '../../../test/kit/parity-cases/target.ts';
import { issueClientPair } from './auth/ca.ts';
import { secureParts } from './auth/secure.ts';
import { newestVersion } from './discovery.ts';
import { type ApiServer, startApiServer } from './server.ts';

/** The same table runs against a real kube-apiserver in test/cluster. */
let server: ApiServer;
let setting: Setting;

beforeAll(async () => {
  const parts = secureParts();
  server = await startApiServer(parts);
  const admin = { commonName: 'admin', organizations: ['system:masters'] };
  const { certificate: cert, key } = issueClientPair(parts.authority, admin, parts.clock);
  setting = {
    target: new Target({ url: server.url, ca: server.ca, cert, key }),
    policy: 'v1',
    minor: Number(newestVersion.minor),
  };
});

afterAll(async () => {
  setting.target.close();
  await server.close();
});

for (const [index, parityCase] of parityCases.entries())
  test.concurrent(parityCase.name, () => runCase(setting, parityCase, `p${index}`));
