-- Makes the record of a first claim, unless there is one.
-- KEYS record history scheduled leases refs
-- ARGV version key ref scheduled lease remaining retention entry field value …
local found = redis.call('HGETALL', KEYS[1])
local other = rival(KEYS[3], ARGV[4], ARGV[2])
if #found > 0 then return answer('found', found, other) end
local kind = absent(KEYS[5], ARGV[3])
if kind == 'gone' or other ~= '' then return answer(kind, found, other) end

local lease = int(now + ARGV[5])
local function make(...)
  redis.call('HSET', KEYS[1], 'version', ARGV[1], 'created', moment, 'lease', lease, 'deadline', int(now + ARGV[6]), ...)
end
-- A server that is out of memory, or must not write, refuses the first write or none.
if ARGV[7] ~= '' then make('expires', int(now + ARGV[7]), unpack(ARGV, 9)) else make(unpack(ARGV, 9)) end
redis.call('RPUSH', KEYS[2], text(moment) .. ARGV[8])
redis.call('ZADD', KEYS[4], lease, ARGV[2])
redis.call('ZADD', KEYS[5], 0, ARGV[3])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[3], ARGV[4], ARGV[2]) end
return answer('written')
