-- Writes what the state machine made of a record, if it is still the one that the
-- state machine was given: as it was, and not longer ago than its moment may be old.
-- KEYS record history scheduled leases expiries refs
-- ARGV before version moment patience key ref scheduled dropped entry lease expiry n field (n times) field value …
local version = redis.call('HGET', KEYS[1], 'version') or ''
if version == ARGV[2] then return answer('written') end -- our own earlier try
local other = rival(KEYS[3], ARGV[7], ARGV[5])
if version ~= ARGV[1] or other ~= '' or now - ARGV[3] > tonumber(ARGV[4]) then
  local found = redis.call('HGETALL', KEYS[1])
  return answer(#found > 0 and 'found' or absent(KEYS[6], ARGV[6]), found, other)
end

local n = tonumber(ARGV[12])
local fields = {'version', ARGV[2]}
for i = 13 + n, #ARGV do fields[#fields + 1] = ARGV[i] end
-- A server that is out of memory, or must not write, refuses the first write or none.
redis.call('HSET', KEYS[1], unpack(fields))
if n > 0 then redis.call('HDEL', KEYS[1], unpack(ARGV, 13, 12 + n)) end
if ARGV[9] ~= '' then redis.call('RPUSH', KEYS[2], ARGV[9]) end
if ARGV[1] == '' then redis.call('ZADD', KEYS[6], 0, ARGV[6]) end
if ARGV[8] ~= '' then redis.call('HDEL', KEYS[3], ARGV[8]) end
if ARGV[7] ~= '' then redis.call('HSET', KEYS[3], ARGV[7], ARGV[5]) end
for i, index in ipairs({KEYS[4], KEYS[5]}) do
  if ARGV[9 + i] ~= '' then
    redis.call('ZADD', index, ARGV[9 + i], ARGV[5])
  else
    redis.call('ZREM', index, ARGV[5])
  end
end
return answer('written')
