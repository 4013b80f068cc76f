// Checks ../vectors.json with the implementation beside this file:
//
//   node check.mjs [--need-peers] [vectors.json]
//
// Prints what fails and "N passed, N failed", and exits with 1 if anything failed.
//
// Two more readers look at the same texts, so that the second implementation is
// checked too: node's own JSON.parse, whose reviver shows the source text of
// numbers, and the npm package canonicalize (npm ci). What is missing is named;
// with --need-peers it is a failure.

import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import v8 from 'node:v8'
import * as eo from './effectonce.mjs'

// Newer versions of node have it without the flag.
v8.setFlagsFromString('--harmony-json-parse-with-source')

const needPeers = process.argv.includes('--need-peers')
const file = process.argv.slice(2).find((arg) => !arg.startsWith('--')) ?? new URL('../vectors.json', import.meta.url)
const { vectors, rejections } = JSON.parse(readFileSync(file, 'utf8'))

let passed = 0
let failed = 0
function check(name, what, got, want) {
  if (isDeepStrictEqual(got, want)) {
    passed++
    return
  }
  failed++
  console.log(`FAIL ${name}: ${what}\n  got  ${JSON.stringify(got)}\n  want ${JSON.stringify(want)}`)
}

function reasonOf(f) {
  try {
    f()
  } catch (err) {
    return err instanceof eo.Refused ? err.reason : String(err.stack)
  }
  return 'accepted'
}

// The peers.
const withSource = parsesWithSource()
const canonicalize = await import('canonicalize').then((m) => m.default, () => undefined)
const missing = [!withSource && 'JSON.parse with source texts (node 20 or newer)', !canonicalize && 'canonicalize (npm ci)'].filter(Boolean)
for (const peer of missing) console.log(`not compared with ${peer}`)
if (needPeers) check('peers', 'missing', missing, [])

function parsesWithSource() {
  let source
  JSON.parse('1.0', (_, value, context) => {
    source = context?.source
    return value
  })
  return source === '1.0'
}

/** The same form, but read by node: numbers keep their text. */
function byNode(text) {
  const numbers = new WeakSet()
  const value = JSON.parse(text, (_, v, context) => {
    if (typeof v !== 'number') return v
    const held = { text: context.source }
    numbers.add(held)
    return held
  })
  const show = (v) => {
    if (numbers.has(v)) return eo.canonical(v.text)
    if (Array.isArray(v)) return '[' + v.map(show).join(',') + ']'
    if (v === null || typeof v !== 'object') return JSON.stringify(v)
    return '{' + Object.keys(v).sort().map((name) => JSON.stringify(name) + ':' + show(v[name])).join(',') + '}'
  }
  return show(value)
}

const keys = new Map()
for (const v of vectors) {
  let made
  try {
    made = eo.preimage(v)
  } catch (err) {
    check(v.name, 'is accepted', String(err.stack), '')
    continue
  }
  if (v.arguments !== undefined) {
    check(v.name, 'canonical', made.canonical, v.canonical)
    check(v.name, 'canonical of canonical', eo.canonical(v.canonical), v.canonical)
    if (withSource) check(v.name, 'read by node', byNode(v.arguments), eo.canonical(v.arguments))
    if (canonicalize) {
      const rfc = canonicalize(JSON.parse(v.arguments))
      check(v.name, 'differs from RFC 8785', rfc !== eo.canonical(v.arguments), v.differs_from_rfc8785 ?? false)
    }
  }
  check(v.name, 'preimage', made.preimage, v.preimage)
  check(v.name, 'key', eo.key(v.preimage), v.key)
  if (v.fingerprint !== undefined) {
    check(v.name, 'fingerprint', made.fingerprint, v.fingerprint)
    check(v.name, 'digest of the fingerprint', eo.digest(v.fingerprint), v.fingerprint_sha256)
  }
  if (v.generation !== undefined) {
    check(v.name, 'downstream', eo.downstream(v.key, v.generation), v.downstream)
    check(v.name, 'UUID', eo.uuid(v.downstream), v.uuid)
  }
  // One preimage, one key; another preimage, another key.
  check(v.name, 'key of its own', keys.get(v.key) ?? v.preimage, v.preimage)
  keys.set(v.key, v.preimage)
}

for (const r of rejections) {
  const text = r.arguments_hex === undefined ? r.arguments : Buffer.from(r.arguments_hex, 'hex')
  const isIdentity = r.namespace !== undefined
  const reason = reasonOf(() => {
    if (isIdentity) eo.preimage({ ...r, arguments: text })
    else if (r.fields) eo.select(text, r.fields)
    else eo.canonical(text)
  })
  check(r.name, 'is refused', reason, r.error)
  if (!isIdentity && !r.fields && r.arguments !== undefined) {
    const accepted = reasonOf(() => JSON.parse(r.arguments)) === 'accepted'
    check(r.name, 'is JSON for node', accepted, r.error !== 'ErrSyntax')
  }
}

check('vectors', 'at least 150', vectors.length >= 150, true)
check('rejections', 'at least 60', rejections.length >= 60, true)
console.log(`${vectors.length} vectors, ${rejections.length} rejections: ${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
