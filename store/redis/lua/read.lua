-- KEYS record scheduled refs   ARGV key ref scheduled
local found = redis.call('HGETALL', KEYS[1])
return answer(#found > 0 and 'found' or absent(KEYS[3], ARGV[2]), found, rival(KEYS[2], ARGV[3], ARGV[1]))
