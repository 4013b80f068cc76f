-- KEYS refs   ARGV after limit
return answer('found', redis.call('ZRANGEBYLEX', KEYS[1], '(' .. ARGV[1], '+', 'LIMIT', 0, ARGV[2]))
