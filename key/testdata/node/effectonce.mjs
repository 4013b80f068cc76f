// A second implementation of docs/spec.md, in another language and on another
// number formatter, so that the first one is checked by something that is not
// itself. No dependencies. It is also what a TypeScript worker would need.

import { createHash } from 'node:crypto'

const MAX_DEPTH = 1000
const MAX_SIZE = 16 << 20
const MAX_NUMBER = 1024

/** The reason for a refusal, by its name in the specification. */
export class Refused extends Error {
  constructor(reason, detail) {
    super(detail ? `${reason}: ${detail}` : reason)
    this.reason = reason
  }
}

/** An object's members in the order of the text, or a number's canonical text. */
class Members extends Array {}
class Numeral {
  constructor(text) {
    this.text = text
  }
}

// Section 2: text.

/** Reads one JSON text, given as bytes, and refuses what has no canonical form. */
export function parse(bytes) {
  if (bytes.length > MAX_SIZE) throw new Refused('ErrSize')
  let at = 0
  const value = readValue(0)
  skipSpace()
  if (at < bytes.length) throw syntax()
  return value

  function syntax() {
    return new Refused('ErrSyntax', `at byte ${at}`)
  }

  function skipSpace() {
    while (at < bytes.length && ' \t\n\r'.includes(String.fromCharCode(bytes[at]))) at++
  }

  function next(char) {
    skipSpace()
    if (at < bytes.length && bytes[at] === char.charCodeAt(0)) {
      at++
      return true
    }
    return false
  }

  function readValue(depth) {
    skipSpace()
    if (at >= bytes.length) throw syntax()
    const char = String.fromCharCode(bytes[at])
    if ('[{'.includes(char)) {
      if (depth >= MAX_DEPTH) throw new Refused('ErrDepth')
      at++
      return char === '[' ? readArray(depth + 1) : readObject(depth + 1)
    }
    if (char === '"') return readString()
    if (char === '-' || isDigit(bytes[at])) return readNumber()
    for (const [word, literal] of [['null', null], ['true', true], ['false', false]]) {
      if (bytes.subarray(at, at + word.length).toString('latin1') === word) {
        at += word.length
        return literal
      }
    }
    throw syntax()
  }

  function readArray(depth) {
    const list = []
    if (next(']')) return list
    for (;;) {
      list.push(readValue(depth))
      if (next(']')) return list
      if (!next(',')) throw syntax()
    }
  }

  function readObject(depth) {
    const members = new Members()
    const names = new Set()
    if (next('}')) return members
    for (;;) {
      skipSpace()
      if (bytes[at] !== 0x22) throw syntax()
      const name = readString()
      if (names.has(name)) throw new Refused('ErrDuplicate', `at byte ${at}`)
      names.add(name)
      if (!next(':')) throw syntax()
      members.push([name, readValue(depth)])
      if (next('}')) return members
      if (!next(',')) throw syntax()
    }
  }

  /** Strings become strings of UTF-16 code units, all of whose surrogates are paired. */
  function readString() {
    let text = ''
    for (at++; ; ) {
      if (at >= bytes.length) throw syntax()
      const byte = bytes[at]
      if (byte === 0x22) {
        at++
        return text
      }
      if (byte < 0x20) throw syntax()
      if (byte === 0x5c) {
        text += readEscape()
      } else if (byte < 0x80) {
        text += String.fromCharCode(byte)
        at++
      } else {
        text += readSequence(byte)
      }
    }
  }

  function readEscape() {
    const short = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
    const char = String.fromCharCode(bytes[at + 1])
    if (Object.hasOwn(short, char)) {
      at += 2
      return short[char]
    }
    const high = readUnit()
    if (high < 0xd800 || high > 0xdfff) return String.fromCharCode(high)
    if (high > 0xdbff || bytes[at] !== 0x5c || bytes[at + 1] !== 0x75) throw new Refused('ErrSurrogate')
    const low = readUnit()
    if (low < 0xdc00 || low > 0xdfff) throw new Refused('ErrSurrogate')
    return String.fromCharCode(high, low)
  }

  function readUnit() {
    const hex = bytes.subarray(at, at + 6).toString('latin1')
    if (!/^\\u[0-9a-fA-F]{4}$/.test(hex)) throw syntax()
    at += 6
    return parseInt(hex.slice(2), 16)
  }

  function readSequence(lead) {
    const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
    let text
    try {
      text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(at, at + length))
    } catch {
      throw new Refused('ErrUTF8', `at byte ${at}`)
    }
    at += length
    return text
  }

  function readNumber() {
    const start = at
    while (at < bytes.length && /[-+.0-9eE]/.test(String.fromCharCode(bytes[at]))) at++
    const text = bytes.subarray(start, at).toString('latin1')
    if (!/^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/.test(text)) throw syntax()
    return new Numeral(number(text))
  }
}

function isDigit(byte) {
  return byte >= 0x30 && byte <= 0x39
}

// Section 3: numbers.

/** Returns the canonical text of a number that fits the grammar. */
function number(text) {
  if (text.length > MAX_NUMBER) throw new Refused('ErrSize', 'number')
  const double = Number(text)
  if (!Number.isFinite(double)) throw new Refused('ErrRange', 'number')
  const short = String(Object.is(double, -0) ? 0 : double) // as RFC 8785 writes it
  if (equalDecimals(short, text)) return short
  if (/^-?[0-9]+$/.test(text)) return text
  throw new Refused('ErrLossy')
}

/** Compares two numbers as exact decimals: integers times powers of ten. */
function equalDecimals(a, b) {
  const [x, y] = [decimal(a), decimal(b)]
  return x.digits === y.digits && (x.digits === 0n || x.exponent === y.exponent)
}

function decimal(text) {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?$/.exec(text)
  const all = whole + fraction
  const significant = all.replace(/0+$/, '')
  return {
    digits: BigInt(sign + (significant || '0')),
    exponent: BigInt(exponent) - BigInt(fraction.length) + BigInt(all.length - significant.length),
  }
}

// Section 4: the form.

/** Writes a parsed value. */
export function write(value) {
  if (value instanceof Numeral) return value.text
  if (value instanceof Members) {
    // JavaScript compares strings by UTF-16 code units, as the specification does.
    const sorted = [...value].sort(([a], [b]) => (a < b ? -1 : 1))
    return '{' + sorted.map(([name, v]) => writeString(name) + ':' + write(v)).join(',') + '}'
  }
  if (Array.isArray(value)) return '[' + value.map(write).join(',') + ']'
  if (typeof value === 'string') return writeString(value)
  return String(value)
}

function writeString(text) {
  const short = { '"': '\\"', '\\': '\\\\', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
  return (
    '"' +
    text.replace(/["\\\u0000-\u001f]/g, (c) => short[c] ?? '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')) +
    '"'
  )
}

/** Returns the canonical form of a JSON text, given as text or as bytes. */
export function canonical(text) {
  return write(parse(Buffer.from(text)))
}

// Section 5: arguments.

const IDENTITY = 1
const CHECKED = 2
const IGNORED = 3

/**
 * Selects what counts of an argument list: fields holds lists of JSON pointers
 * named identity, check and ignore. Returns the canonical texts of what goes into
 * the key and of what must not differ under it.
 */
export function select(argumentsText, fields = {}) {
  const tree = { class: fields.identity?.length ? IGNORED : IDENTITY, next: new Map() }
  for (const [list, cls] of [[fields.identity, IDENTITY], [fields.check, CHECKED], [fields.ignore, IGNORED]]) {
    for (const pointer of list ?? []) addPath(tree, pointer, cls)
  }
  const args = parse(Buffer.from(argumentsText))
  if (!Array.isArray(args) || args instanceof Members) throw new Refused('ErrIncomplete', 'arguments are not an array')
  const identity = pickList(args, tree, IDENTITY)
  for (const pointer of fields.identity ?? []) {
    let part = identity
    for (const token of tokens(pointer)) part = child(part, token)
    if (part === undefined || part === null) throw new Refused('ErrAbsent', pointer)
  }
  return { identity: write(identity), fingerprint: write(pickList(args, tree, CHECKED)) }
}

function tokens(pointer) {
  if (!/^\/(0|[1-9][0-9]*)(\/|$)/.test(pointer) || /~(?![01])/.test(pointer)) throw new Refused('ErrField', pointer)
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function addPath(tree, pointer, cls) {
  let node = tree
  for (const token of tokens(pointer)) {
    if (!node.next.has(token)) node.next.set(token, { class: 0, next: new Map() })
    node = node.next.get(token)
    if (node.class) throw new Refused('ErrField', pointer)
  }
  if (node.next.size) throw new Refused('ErrField', pointer)
  node.class = cls
}

function child(value, token) {
  if (value instanceof Members) return value.find(([name]) => name === token)?.[1]
  if (Array.isArray(value)) return /^(0|[1-9][0-9]*)$/.test(token) ? value[Number(token)] : undefined
  return undefined
}

/** The argument list itself: without what is null at its end. */
function pickList(args, tree, keep) {
  const list = args.map((arg, i) => pick(arg, tree.next.get(String(i)), tree.class, keep) ?? null)
  while (list.length && list.at(-1) === null) list.pop()
  return list
}

/** What counts of a value, or undefined if nothing does. */
function pick(value, node, around, keep) {
  const cls = node?.class || around
  const counts = cls <= keep
  const compound = Array.isArray(value)
  if (!node || !compound) return counts ? value : undefined
  if (value instanceof Members) {
    const kept = new Members()
    for (const [name, v] of value) {
      const part = pick(v, node.next.get(name), cls, keep)
      if (part !== undefined) kept.push([name, part])
    }
    return kept.length || counts ? kept : undefined
  }
  const parts = value.map((v, i) => pick(v, node.next.get(String(i)), cls, keep))
  if (!counts) while (parts.length && parts.at(-1) === undefined) parts.pop()
  return parts.length || counts ? parts.map((part) => part ?? null) : undefined
}

// Section 1: keys.

const sha256 = (text) => createHash('sha256').update(text)
export const digest = (text) => sha256(text).digest('hex')

/** Returns the preimage of an identity and, from its arguments, the canonical texts. */
export function preimage(id) {
  const quote = (text) => writeString(text)
  const need = (...parts) => {
    if (parts.some((part) => !part)) throw new Refused('ErrIncomplete')
  }
  if (id.call_token !== undefined) {
    need(id.namespace, id.call_token)
    return { preimage: `["effectonce/1",${quote(id.namespace)},"call",${quote(id.call_token)}]` }
  }
  need(id.namespace, id.scope_kind, id.operation, id.explicit || id.arguments)
  const head = [id.namespace, id.scope_kind, id.scope_id, id.operation].map(quote)
  head.push(id.intent ? quote(id.intent) : 'null')
  if (id.explicit) return { preimage: `["effectonce/1",${head},${quote(id.explicit)}]` }
  const { identity, fingerprint } = select(id.arguments, id.fields)
  return { preimage: `["effectonce/1",${head},${identity}]`, canonical: identity, fingerprint }
}

export const key = (pre) => 'eo1_' + digest(pre)

/** The key that goes to the receiver of the effect. */
export const downstream = (k, generation) => (generation > 1 ? `${k}-${generation}` : k)

/** A UUID of version 8 for receivers that insist on one. */
export function uuid(text) {
  const bytes = sha256(text).digest().subarray(0, 16)
  bytes[6] = (bytes[6] & 0x0f) | 0x80
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
