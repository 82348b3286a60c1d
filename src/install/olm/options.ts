export interface BundleOptions {
  /** Of the release, such as 11.0.0. */
  version: string;
  /** Of the operator; by digest in a release that clusters without internet can mirror. */
  image: string;
  /** Of the bundle; needed for the catalog. */
  bundleImage: string;
  /** Default: the reference that containerd on the hosts uses, by tag. */
  pauseImage?: string;
  /** PEM of the key that must have signed the payload; default is the key of the release. */
  payloadKey?: string;
  /** RFC 3339. Missing in the files of the repository, which have no date. */
  createdAt?: string;
}
