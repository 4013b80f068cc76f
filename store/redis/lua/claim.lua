-- Makes the record of a first claim, unless there is one.
-- KEYS record history scheduled leases refs
-- ARGV version key ref scheduled lease remaining retention entry field value …
local found = redis.call('HGETALL', KEYS[1])
local other = rival(KEYS[3], ARGV[4], ARGV[2])
if #found > 0 then return answer('found', found, other) end
local kind = absent(KEYS[5], ARGV[3])
if kind == 'gone' or other ~= '' then return answer(kind, found, other) end

local lease = int(now + ARGV[5])
local fields = {'version', ARGV[1], 'created', int(now), 'lease', lease, 'deadline', int(now + ARGV[6])}
if ARGV[7] ~= '' then
  fields[#fields + 1] = 'expires'
  fields[#fields + 1] = int(now + ARGV[7])
end
for i = 9, #ARGV do fields[#fields + 1] = ARGV[i] end
-- A server that is out of memory, or must not write, refuses the first write or none.
redis.call('HSET', KEYS[1], unpack(fields))
redis.call('RPUSH', KEYS[2], text(int(now)) .. ARGV[8])
redis.call('ZADD', KEYS[4], lease, ARGV[2])
redis.call('ZADD', KEYS[5], 0, ARGV[3])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[3], ARGV[4], ARGV[2]) end
return answer('written')
