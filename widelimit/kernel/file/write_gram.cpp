#include "widelimit/kernel/file/write_gram.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/kernel/device_gram.hpp"
#include "widelimit/kernel/file/file_sink.hpp"
#include "widelimit/kernel/inputs.hpp"

#include <algorithm>

namespace widelimit {

namespace {

using Json = nlohmann::ordered_json;

/// Edge of the HDF5 chunks: one megabyte of float32, the default size of the HDF5 chunk cache.
constexpr Index chunk_edge = 512;

/// Distinct sample sets of all blocks.
std::vector<SampleView> distinct_sets(std::span<const GramBlock> blocks) {
  std::vector<SampleView> sets;
  const auto add = [&](const SampleView& x) {
    const auto same = [&](const SampleView& y) { return x.same_memory(y); };
    if (std::none_of(sets.begin(), sets.end(), same)) sets.push_back(x);
  };
  for (const GramBlock& block : blocks) {
    add(block.x1);
    if (block.x2) add(*block.x2);
  }
  return sets;
}

void check_blocks(std::span<const Network> networks, std::span<const GramBlock> blocks) {
  if (networks.empty() || blocks.empty())
    fail(Code::usage, "a Gram matrix needs at least one network and one set of samples");
  for (const GramBlock& block : blocks) {
    check_same_shape(blocks.front().x1, block.x1);
    check_same_shape(block.x1, block.x2.value_or(block.x1));
  }
  const bool sparse = blocks.front().x1.sparse() != nullptr;
  for (const SampleView& x : distinct_sets(blocks)) {
    check_samples(x);
    if ((x.sparse() != nullptr) != sparse) {
      fail(Code::input, "one set of samples is sparse, another is dense; use one format for all");
    }
  }
}

std::string kind_text(Kind kind) {
  if (kind == Kind::both) return "nngp,ntk";
  return kind == Kind::nngp ? "nngp" : "ntk";
}

Fingerprint fingerprint_of(std::span<const Network> networks, std::span<const GramBlock> blocks,
                           const GramFileOptions& options) {
  Fingerprint result = Fingerprint::object();
  for (const GramBlock& block : blocks) {
    result[block.prefix + (block.x2 ? "rows" : "samples")] = describe_samples(block.x1);
    if (block.x2) result[block.prefix + "columns"] = describe_samples(*block.x2);
  }
  for (std::size_t k = 0; k < networks.size(); ++k) {
    result[networks.size() == 1 ? "network" : fmt::format("network {}", k + 1)] = networks[k].to_text();
  }
  result["kind"] = kind_text(options.kind);
  result["precision"] = to_string(options.precision);
  return result;
}

/// Matrices, tasks and panels of a run.
struct FilePlan {
  std::vector<Recipe> recipes;
  std::vector<FileTask> tasks;
  std::vector<TiledMatrix> matrices;
  std::vector<PanelPlan> panel_plans;
};

void add_matrices(FilePlan& plan, const std::string& prefix, const GramBlock& block, const GramFileOptions& options) {
  const Index rows = block.x1.count();
  const Index cols = block.x2 ? block.x2->count() : rows;
  for (const Kind kind : {Kind::nngp, Kind::ntk}) {
    if (!has(options.kind, kind)) continue;
    plan.matrices.push_back({prefix + block.prefix + kind_text(kind), options.precision, rows, cols,
                             std::min(rows, chunk_edge), std::min(cols, chunk_edge), 0});
  }
}

FilePlan plan_file(std::span<const Network> networks, std::span<const GramBlock> blocks,
                   const GramFileOptions& options) {
  FilePlan plan;
  for (const Network& network : networks) {
    plan.recipes.push_back(lower(network, blocks.front().x1.shape, recipe_outputs(options.kind)));
  }
  for (std::size_t k = 0; k < networks.size(); ++k) {
    const std::string prefix = networks.size() == 1 ? "" : fmt::format("network{}/", k + 1);
    for (const GramBlock& block : blocks) {
      plan.tasks.push_back(
          {{&plan.recipes[k], block.x1, block.x2, options.precision}, plan.matrices.size(), plan.tasks.size()});
      add_matrices(plan, prefix, block, options);
    }
  }
  return plan;
}

void set_panel_plans(FilePlan& plan, std::size_t samples, std::size_t records, const GramFileOptions& options,
                     const Engine& engine) {
  const std::size_t budget = options.memory.value_or(samples + half_of_memory());
  for (const FileTask& task : plan.tasks) {
    const GramTask& gram = task.gram;
    require_recipe(*gram.recipe, gram.precision, engine);
    PanelNeeds needs{.rows = gram.x1.count(), .cols = gram.columns().count(), .symmetric = gram.symmetric()};
    needs.edge = task.edge(engine);
    for (const SampleView* x : {&gram.x1, &gram.columns()}) {
      const std::size_t bytes = engine.kernels().loaded_bytes(*gram.recipe, gram.precision, *x);
      needs.sample_bytes = std::max(needs.sample_bytes, bytes);
    }
    needs.fixed_bytes = samples + records * sizeof(Journal::Record) + task.tile_bytes(engine);
    needs.budget = budget;
    needs.most = options.most_loaded;
    if (const Index most = most_loaded(gram, needs.edge, engine); most > 0) {
      needs.most = needs.most > 0 ? std::min(needs.most, most) : most;
    }
    plan.panel_plans.push_back(plan_panels(needs));
  }
}

/// Largest quadrature error of a sample; 0 without a pass over the samples if all formulas are closed.
double quadrature_error(const FilePlan& plan, std::span<const Network> networks, std::span<const GramBlock> blocks,
                        const GramFileOptions& options, const Engine& engine) {
  double error = 0;
  for (std::size_t k = 0; k < networks.size(); ++k) {
    if (exactness(networks[k]) == Exactness::closed_form) continue;
    for (const SampleView& x : distinct_sets(blocks)) {
      const Index step = std::max<Index>(1, plan.panel_plans[k * blocks.size()].cols);
      for (Index first = 0; first < x.count(); first += step) {
        const Index count = std::min(step, x.count() - first);
        ProgressTicker ticker(options.progress, x.count(), "samples");
        const auto loaded = engine.kernels().load(plan.recipes[k], x.part(first, count), options.precision,
                                                  [&](Index done) { ticker.at(first + done); });
        error = std::max(error, loaded->quadrature_error());
      }
    }
  }
  return error;
}

std::string settings_text(const GramFileOptions& options, const GramFileSummary& summary) {
  Json settings = options.settings;
  settings["route"] = summary.routes.size() == 1 ? Json(summary.routes.front()) : Json(summary.routes);
  settings["quadrature_error"] = summary.quadrature_error;
  return settings.dump(2, ' ', false, Json::error_handler_t::replace);
}

/// Error recorded in a file that a previous run started.
double stored_quadrature_error(const GramWriter& file) {
  const Json settings = Json::parse(file.settings(), nullptr, false);
  return settings.is_object() ? settings.value("quadrature_error", 0.0) : 0.0;
}

Index finished_pairs(const FilePlan& plan, const GramWriter& file, const Engine& engine) {
  Index pairs = 0;
  for (std::size_t k = 0; k < plan.tasks.size() && file.resumed(); ++k) {
    const FileTask& task = plan.tasks[k];
    Traversal(task.gram, plan.panel_plans[k], engine).each_pair([&](const Panel& rows, const Panel& cols) {
      for (const Tile& tile : task.tiles(rows.range(), cols.range(), engine)) {
        pairs += file.finished(task.key(tile)) ? task.pairs(tile) : 0;
      }
    });
  }
  return pairs;
}

void compute(const FilePlan& plan, const GramFileOptions& options, const Engine& engine, GramWriter& file,
             GramFileSummary& summary) {
  Index total = 0;
  for (const FileTask& task : plan.tasks) total += task.gram.pairs();
  const Index kept = finished_pairs(plan, file, engine);
  PairProgress progress(options.progress, total - kept);
  for (std::size_t k = 0; k < plan.tasks.size(); ++k) {
    const FileTask& task = plan.tasks[k];
    const std::vector<EntryCount> counts = write_tiles(task, plan.panel_plans[k], engine, file, progress);
    for (std::size_t s = 0; s < counts.size(); ++s) {
      counts[s].write(task.gram.symmetric(), summary.matrices[task.first_matrix + s].entries);
    }
  }
  summary.pairs = static_cast<double>(progress.done());
  summary.pairs_kept = static_cast<double>(total - progress.done());
}

}  // namespace

GramFileSummary write_gram(const std::filesystem::path& path, std::span<const Network> networks,
                           std::span<const GramBlock> blocks, const GramFileOptions& options, const Engine& engine) {
  const auto start = Clock::now();
  const DeviceMemoryLimit limit(engine, options.memory);
  check_blocks(networks, blocks);
  FilePlan plan = plan_file(networks, blocks, options);
  GramFileSummary summary;
  for (const TiledMatrix& matrix : plan.matrices) {
    summary.matrices.push_back({matrix.name, {.rows = matrix.rows, .cols = matrix.cols}});
  }
  for (const Recipe& recipe : plan.recipes) summary.routes.push_back(engine.kernels().route(recipe, options.precision));

  GramWriter file(path, fingerprint_of(networks, blocks, options), options.existing);
  summary.complete_before = file.complete();
  if (file.complete()) {
    summary.quadrature_error = stored_quadrature_error(file);
    return summary;
  }
  std::size_t samples = 0;
  for (const SampleView& x : distinct_sets(blocks)) samples += x.bytes();
  set_panel_plans(plan, samples, file.records().size(), options, engine);
  for (std::size_t k = 0; k < plan.panel_plans.size(); ++k) {
    const PanelPlan& panel = plan.panel_plans[k];
    summary.memory = std::max(summary.memory, panel.bytes);
    if (panel.rows > 0) summary.panels += (plan.tasks[k].gram.x1.count() + panel.rows - 1) / panel.rows;
  }
  try {
    if (file.resumed()) {
      summary.quadrature_error = stored_quadrature_error(file);
    } else {
      summary.quadrature_error = quadrature_error(plan, networks, blocks, options, engine);
      file.create(plan.matrices, options.beside, settings_text(options, summary));
    }
    compute(plan, options, engine, file, summary);
    file.finish();
  } catch (const Error& error) {
    if (error.code() == Code::numerical) file.discard();
    if (error.code() != Code::interrupted && error.code() != Code::resource) throw;
    file.stop(error);
  }
  summary.seconds = seconds_since(start);
  return summary;
}

}  // namespace widelimit
