# The oracle: prints the pages that prometheus-client-mmap makes of directories. Each line of stdin is a JSON object
# {"path": …}; each line of stdout is {"page": …} or {"error": …}.
require 'json'
require 'prometheus/client'
require 'prometheus/client/formats/text'

$stdout.sync = true
$stdin.each_line do |line|
  answer = begin
    { page: Prometheus::Client::Formats::Text.marshal_multiprocess(JSON.parse(line)['path']) }
  rescue StandardError => e
    { error: "#{e.class}: #{e.message}" }
  end
  puts JSON.generate(answer)
end
