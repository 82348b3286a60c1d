import { isIPv4, isIPv6 } from 'node:net';
import { parseGoDuration } from '#base/go-duration.ts';

/** String formats by name without dashes; others are not checked. */
const formats: Readonly<Record<string, RegExp | ((text: string) => boolean)>> = {
  uri: /^(\/|[a-z][a-z0-9+.-]*:)[^\s\p{Cc}]*$/iu,
  hostname: text =>
    text.length <= 255 &&
    /^([a-z0-9](-?[a-z0-9]){0,62}|([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63})$/i.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  uuid: /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i,
  byte: /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/,
  date: text => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text),
  duration: text => parseGoDuration(text) !== undefined || spelledDuration.test(text),
  datetime: isDateTime,
};

const spelledDuration =
  /^(\d+\s*(ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?)\s*)+$/i;

/** True for a format that is unknown. */
export function hasFormat(format: string, text: string): boolean {
  const name = format.replaceAll('-', '');
  const known = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (known === undefined) return true;
  return known instanceof RegExp ? known.test(text) : known(text);
}

function isCidr(text: string): boolean {
  const [address = '', length = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,3}$/.test(length)) return false;
  return (isIPv4(address) && Number(length) <= 32) || (isIPv6(address) && Number(length) <= 128);
}

function isDateTime(text: string): boolean {
  const match = /^(\d{4}-\d{2}-\d{2})t(\d{2}):(\d{2}):(\d{2})(\.\d+)?(z|[+-]\d{2}:\d{2})$/i.exec(text);
  if (match === null) return false;
  const [, day = '', hour, minute, second] = match;
  return isDay(day) && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
}

/** Rejects days such as February 30. */
function isDay(text: string): boolean {
  const time = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}
