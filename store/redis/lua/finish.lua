-- Records the outcome that the owner of a claim reports, unless there is one.
-- KEYS record history leases expiries refs
-- ARGV version key ref token fence state verb who why before line expires kept field value …
local function finish(line, expires, kept)
  -- A server that is out of memory, or must not write, refuses the first write or none.
  redis.call('HSET', KEYS[1], 'version', ARGV[1], 'state', ARGV[6], 'finished', moment, unpack(ARGV, 14))
  redis.call('HDEL', KEYS[1], 'lease')
  redis.call('RPUSH', KEYS[2], text(moment) .. line)
  redis.call('ZREM', KEYS[3], ARGV[2])
  if expires then redis.call('ZADD', KEYS[4], int(math.max(expires, now + kept)), ARGV[2]) end
end

-- The caller remembers what is there, and what comes of it.
if ARGV[10] ~= '' and redis.call('HGET', KEYS[1], 'version') == ARGV[10] then
  finish(ARGV[11], ARGV[12] ~= '' and ARGV[12], ARGV[13])
  return answer('recognised')
end

local found = redis.call('HGETALL', KEYS[1])
if #found == 0 then return answer(absent(KEYS[5], ARGV[3])) end
local r = {}
for i = 1, #found, 2 do r[found[i]] = found[i + 1] end

-- whole reports whether the record can be read: one that cannot is left as it is.
local function whole()
  for _, name in ipairs({'lease', 'deadline', 'prior', 'expires', 'retention'}) do
    if r[name] and (tonumber(r[name]) or -1) < 0 then return false end
  end
  for name, length in pairs({version = 16, token = 16, root = 16, scheduled = 32, fingerprint = 32}) do
    if r[name] and #r[name] ~= length then return false end
  end
  local at, parts = 1, 0
  while at <= #(r.request or '') do
    local length, start = string.match(r.request, '^(%d+):()', at)
    if not length or string.sub(r.request, start + length, start + length) ~= ',' then return false end
    at, parts = start + length + 1, parts + 1
  end
  return parts == 9 and r.version and tonumber(r.created) and (tonumber(r.generation) or 0) >= 1 and
    not (r.finished or r.format) and (r.retention or not r.expires)
end

local open = {in_flight = r.lease, pending = r.lease, unknown = true, free = true}
-- Everything else is for the state machine to refuse.
if not (open[r.state] and r.token == ARGV[4] and r.fence == ARGV[5] and rooted(r.root, ARGV[3]) and whole()) then
  return answer('found', found)
end

finish(text(ARGV[7]) .. text(r.state) .. text(ARGV[6]) .. text(r.generation) .. text(r.token) .. text(ARGV[8]) .. text(ARGV[9]),
  r.expires, r.expires and math.ceil(r.retention / 1000))
return answer('written', found)
