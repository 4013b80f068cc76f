-- Every script begins with this. A script runs alone, so its moment is one moment.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- int writes a number of microseconds out in full.
local function int(n) return string.format('%.0f', n) end
local moment = int(now)

-- text is a string that tells its length, as the history is written in.
local function text(s) return #s .. ':' .. s .. ',' end

local function answer(kind, found, other) return {kind, moment, found or {}, other or ''} end

-- absent tells a record that never was from one that is gone: evicted, or deleted by hand.
local function absent(refs, ref) return redis.call('ZSCORE', refs, ref) and 'gone' or 'none' end

-- rival is the key that the scheduled activity has claimed, if it is not this one.
local function rival(scheduled, digest, key)
  local other = digest ~= '' and redis.call('HGET', scheduled, digest)
  return other and other ~= key and other or ''
end

-- rooted reports whether a record has the root of the ref, which begins with it.
local function rooted(root, ref) return (root or string.rep('\0', 16)) == string.sub(ref, 1, 16) end
