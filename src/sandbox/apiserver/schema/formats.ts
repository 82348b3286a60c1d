import { isIPv4, isIPv6 } from 'node:net';
import { parseGoDuration } from '#base/go-duration.ts';

const uuid = (version: string, variant: string): RegExp =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i');

const rgbPart = '(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';

/** Formats of texts the API server knows, by their names without dashes; others are not checked. */
const formats: Readonly<Record<string, RegExp | ((text: string) => boolean)>> = {
  bsonobjectid: /^[0-9a-f]{24}$/i,
  uri: /^(\/|[a-z][a-z0-9+.-]*:)[^\s\p{Cc}]*$/iu,
  email: /^([^<>@]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
  hostname: text =>
    text.length <= 255 &&
    /^([a-z0-9](-?[a-z0-9]){0,62}|([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63})$/i.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  mac: /^([0-9a-f]{2}([:-][0-9a-f]{2}){5}|[0-9a-f]{2}([:-][0-9a-f]{2}){7}|[0-9a-f]{2}([:-][0-9a-f]{2}){19}|[0-9a-f]{4}(\.[0-9a-f]{4}){2,3}|[0-9a-f]{4}(\.[0-9a-f]{4}){9})$/i,
  uuid: uuid('[0-9a-f]', '[0-9a-f]'),
  uuid3: uuid('3', '[0-9a-f]'),
  uuid4: uuid('4', '[89ab]'),
  uuid5: uuid('5', '[89ab]'),
  isbn: /^[\d -]{9,16}[\dX]$/,
  isbn10: /^[\d -]{9,12}[\dX]$/,
  isbn13: /^[\d -]{12,16}\d$/,
  creditcard: /^(\D*\d){13,16}\D*$/,
  ssn: /^\d{3}[- ]?\d{2}[- ]?\d{4}$/,
  hexcolor: /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i,
  rgbcolor: new RegExp(`^rgb\\(\\s*${rgbPart}\\s*,\\s*${rgbPart}\\s*,\\s*${rgbPart}\\s*\\)$`),
  byte: /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/,
  date: text => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text),
  duration: text => parseGoDuration(text) !== undefined || worded.test(text),
  datetime: isDateTime,
};

const worded =
  /^(\d+\s*(ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?)\s*)+$/i;

/** Whether a text has a format; any text has a format that nobody knows. */
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

/** Whether the month has so many days. */
function isDay(text: string): boolean {
  const time = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}
