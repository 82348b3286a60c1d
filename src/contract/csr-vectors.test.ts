import { expect, test } from 'vitest';
import { parseCertificateRequest } from './csr-request.ts';

/** Written by crypto/x509 of Go, as kubelets and the agent of the Go operator write theirs. */
const kubeletClient = `-----BEGIN CERTIFICATE REQUEST-----
MIH4MIGgAgEAMD4xFTATBgNVBAoTDHN5c3RlbTpub2RlczElMCMGA1UEAxMcc3lz
dGVtOm5vZGU6d2luMS5leGFtcGxlLmNvbTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABNoBlosIuvv5LY4FgkatQhd+Nrm4Fon2oAJxT7S0da6CbMbxo8qffuWILSdw
QPMkVYtt+aKm6L/DoPhe9coUB+agADAKBggqhkjOPQQDAgNHADBEAiBcFQYPgRze
ceaFcMM2IGKsTN9gyLq+6U++4nWtVJtVUgIgTr3gepPIeY60uQGZiOsnxUBAPEA9
gMqaGTg147/DGjk=
-----END CERTIFICATE REQUEST-----
`;
const kubeletServing = `-----BEGIN CERTIFICATE REQUEST-----
MIIBPzCB5gIBADA+MRUwEwYDVQQKEwxzeXN0ZW06bm9kZXMxJTAjBgNVBAMTHHN5
c3RlbTpub2RlOndpbjEuZXhhbXBsZS5jb20wWTATBgcqhkjOPQIBBggqhkjOPQMB
BwNCAATaAZaLCLr7+S2OBYJGrUIXfja5uBaJ9qACcU+0tHWugmzG8aPKn37liC0n
cEDzJFWLbfmipui/w6D4XvXKFAfmoEYwRAYJKoZIhvcNAQkOMTcwNTAzBgNVHREE
LDAqghB3aW4xLmV4YW1wbGUuY29thwQKAAAFhxD9AAAAAAAAAAAAAAAAAAAFMAoG
CCqGSM49BAMCA0gAMEUCIQCIys2hYHHELB3xSUbMsEgZrzqYI7cghJKXz8X+fnS1
igIgONTorLBeeVgs609T7svzIC0gD8CEMwajtW0GoyDG4PU=
-----END CERTIFICATE REQUEST-----
`;
const goAgent = `-----BEGIN CERTIFICATE REQUEST-----
MIICgzCCAWsCAQAwPjEaMBgGA1UEChMRc3lzdGVtOndpY2Qtbm9kZXMxIDAeBgNV
BAMMF3N5c3RlbTp3aWNkLW5vZGU6d2luMV9hMIIBIjANBgkqhkiG9w0BAQEFAAOC
AQ8AMIIBCgKCAQEAvjqVYvSAFGxyP3AKAX/93SgwUug/CiObS6BSdsEHTmlAwPeq
W/iPduQLLlJSQ+L9nYuh8ZSbWH0Os+JHAyLuzZiYefJjuo/vBtH+6Si4yZe6dD+F
nvOyhg+OiNCjgKbATszZkzdIJ+a111U15S1opoSIgwR/w3EzCpvrqmjIhihf/5oK
RNjQ41KlrhK1RDnLMxLk2crssFx5/2/IKJXBGu9xQMGbpiZgtk+xF9iL4Kdy2t69
H9SuxJMwpc+9BCtK3U/JE2m19zunZ6vZc5lNF+9Hm6IZd0GXTN7otzUa5qJe7cOJ
fOsmLkSo9hEbg2DFnzzMU6SDjIwBUQwIYvf38wIDAQABoAAwDQYJKoZIhvcNAQEL
BQADggEBAKcQwVE9QCMp5lCaV4AaL3g+P+Ud/MQOY91PRfBzaFf1efmVYuG1526v
qKckRdsEz1AsVut/O5dEXe1YBtttPP94xUvutRZaW3A/i6GeSi0AoKnghp6z7ie6
mDGESS/TTnJKFZZKe/Oh9WcP4Dp4shGBaYCYYP/B3Y0SBSWh7rfgyCy5e9txRww5
8ZdbbqnNa2REj3zhQkpDQPzb5QAWCKIgQ0VZr+aCbHjAa5Ktt3Nk3PySRKA2qY10
Dd9obutsAnadPm22lHVJ5m2rlhliSuoRNyQAUjNCmplTeaTAQ3rJLzJ4vH/iFcvZ
O36gwLxnEIGID/0gfEmWkxHUUbfrLaI=
-----END CERTIFICATE REQUEST-----
`;

const vectors: [string, string, object][] = [
  [
    'client certificate of a kubelet',
    kubeletClient,
    { commonName: 'system:node:win1.example.com', organizations: ['system:nodes'], dnsNames: [], ipAddresses: [] },
  ],
  [
    'serving certificate of a kubelet',
    kubeletServing,
    {
      commonName: 'system:node:win1.example.com',
      dnsNames: ['win1.example.com'],
      ipAddresses: ['10.0.0.5', 'fd00::5'],
    },
  ],
  [
    'certificate of an agent with an RSA key, and a name that is no printable text',
    goAgent,
    { commonName: 'system:wicd-node:win1_a', organizations: ['system:wicd-nodes'], otherAttributes: [] },
  ],
];
test.each(vectors)('reads a request by Go for the %s', (_, text, want) => {
  expect(parseCertificateRequest(text)).toMatchObject(want);
});

test('names the same key by the same hash in both requests of a kubelet', () => {
  const hashes = [kubeletClient, kubeletServing].map(text => parseCertificateRequest(text).keyHash);
  expect(new Set(hashes).size).toBe(1);
  expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
});
