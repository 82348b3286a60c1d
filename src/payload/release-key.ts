/** The public key of releases. Generated from payload/release-key.pub by `npm run generate`. */
export const releaseKey = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAocr8g5QffuXwNUXPlxNeYRU1aPi65SNrlK5h7Lz8ImY=
-----END PUBLIC KEY-----
`;
